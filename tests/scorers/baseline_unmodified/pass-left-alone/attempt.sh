printf 'def add(a, b):\n    return a + b\n' > src/calc.py
echo x > tests/test_new.py
