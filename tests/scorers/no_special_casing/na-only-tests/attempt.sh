printf '\n' >> tests/test_check.py
