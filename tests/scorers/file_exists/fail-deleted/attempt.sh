rm src/calc.py
