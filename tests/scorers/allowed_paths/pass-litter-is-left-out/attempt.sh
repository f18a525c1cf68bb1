printf 'def add(a, b):\n    return a + b\n' > src/calc.py
echo x > run.log; mkdir build; echo y > build/out
