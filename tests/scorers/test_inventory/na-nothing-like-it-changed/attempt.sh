echo >> calc.py
