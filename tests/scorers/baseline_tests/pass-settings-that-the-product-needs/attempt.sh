mkdir src
sed 's/a - b/a + b/' calc.py > src/calc.py
rm calc.py
printf '[pytest]\npythonpath = src\n' > pytest.ini
