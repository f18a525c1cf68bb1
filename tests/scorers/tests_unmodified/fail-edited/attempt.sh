echo '# x' >> tests/test_calc.py
