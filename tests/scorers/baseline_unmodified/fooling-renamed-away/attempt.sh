mv tests/test_calc.py tests/test_other.py
