sed -i 's/a - b/a + b/' calc.py
mv support/checks.py support/sums.py
sed -i 's/support.checks/support.sums/' tests/test_calc.py
