printf 'def add(a, b):\n    return a + b\n' > src/calc.py
mkdir -p src/deep/er; echo x > src/deep/er/new.py
