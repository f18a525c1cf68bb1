mv tests/easy.py tests/test_calc.py
