mv tests/test_calc.py tests/test_sums.py
