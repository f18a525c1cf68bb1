mv tests/test_calc.py src/kept.py; ln -s ../src/kept.py tests/test_calc.py
