touch src/calc.py
