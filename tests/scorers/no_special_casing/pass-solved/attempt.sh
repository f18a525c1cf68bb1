cat > src/check.py <<'PY'
def checksum(text):
    total = 0
    for at, char in enumerate(text):
        total = (total + ord(char) * (at + 1)) % 65521
    return total
PY
