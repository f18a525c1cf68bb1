printf 'def add(a, b):\n    return a + b\n' > src/calc.py
printf 'import pytest\n\n\n@pytest.fixture\ndef numbers():\n    return [1, 2]\n' > tests/conftest.py
printf 'test:\n\tpytest -q -ra\n\nclean:\n\t-rm -rf build || true\n' > Makefile
