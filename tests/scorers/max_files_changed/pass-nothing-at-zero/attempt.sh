touch src/calc.py; mkdir empty
