echo 'class TokenBucket: (' > limiter.py
