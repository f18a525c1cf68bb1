printf 'def add(a, b):\n    return a + b\n' > src/calc.py
