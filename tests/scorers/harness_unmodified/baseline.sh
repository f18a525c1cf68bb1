mkdir -p src tests
printf 'def add(a, b):\n    return a - b\n' > src/calc.py
printf 'from src.calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n' > tests/test_calc.py
printf 'test:\n\tpytest -q\n\nclean:\n\trm -rf build\n' > Makefile
