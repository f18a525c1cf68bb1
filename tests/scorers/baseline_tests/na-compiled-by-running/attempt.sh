printf 'def add(a, b):\n    return a + b\n' > calc.py
python3 -m compileall -q .
