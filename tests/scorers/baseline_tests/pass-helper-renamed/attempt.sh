sed -i 's/a - b/a + b/' calc.py
mv support/numbers.py support/pairs.py
sed -i 's/support.numbers/support.pairs/' tests/test_calc.py
