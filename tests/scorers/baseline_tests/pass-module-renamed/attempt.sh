sed -i 's/a - b/a + b/' calc.py
mv calc.py sums.py
sed -i 's/from calc/from sums/' tests/test_calc.py
