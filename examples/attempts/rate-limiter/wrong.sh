# Allows everything.
cat > limiter.py <<'END'
class TokenBucket:
    def __init__(self, capacity, rate):
        pass

    def allow(self, now, tokens=1):
        return True
END
