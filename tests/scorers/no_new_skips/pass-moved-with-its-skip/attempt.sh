mv tests/test_calc.py tests/test_moved.py
