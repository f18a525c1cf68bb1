mkdir -p tests
cat > calc.py <<'END'
def add(a, b):
    return a + b


def double(a):
    return 2 * a
END
cat > tests/test_calc.py <<'END'
from calc import add


def test_add():
    assert add(1, 2) == 3


def test_more():
    assert add(2, 2) == 4
END
