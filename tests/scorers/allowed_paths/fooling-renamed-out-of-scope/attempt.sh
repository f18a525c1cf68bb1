git mv 2>/dev/null || mv tests/test_calc.py src/test_calc.py
