# Never refills.
cp "$(dirname "$0")/../../tasks/rate-limiter/tests/golden/fail/never-refills/limiter.py" limiter.py
