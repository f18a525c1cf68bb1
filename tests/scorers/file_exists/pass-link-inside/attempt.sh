ln -s src/calc.py latest
