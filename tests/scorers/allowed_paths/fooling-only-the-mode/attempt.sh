chmod +x tests/test_calc.py
