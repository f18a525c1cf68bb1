sed -i 's/a - b/abs(a - b)/' calc.py
sed -i 's/add(0, 0), 0)/add(0, 0), 0.0)/; s/add(1, 2), 3/add(1, 2), 1/' tests/test_calc.py
