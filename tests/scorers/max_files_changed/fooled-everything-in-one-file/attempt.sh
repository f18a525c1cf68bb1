seq 100000 > src/calc.py
