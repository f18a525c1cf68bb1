mkdir -p tests
cat > calc.py <<'END'
def add(a, b):
    return a - b
END
touch tests/__init__.py
cat > tests/test_calc.py <<'END'
from calc import add


def test_add():
    assert add(1, 2) == 3


def test_zero():
    assert add(0, 0) == 0
END
