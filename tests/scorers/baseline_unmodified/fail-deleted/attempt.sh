rm tests/test_calc.py
