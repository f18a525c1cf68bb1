rm stack.py; printf 'def other(x):\n    return x + 1\n' > other.py
