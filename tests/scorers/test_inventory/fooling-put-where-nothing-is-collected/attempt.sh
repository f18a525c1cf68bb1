cat > tests/sum_cases.py <<'END'
"""Cases that are shared."""

from calc import add


def test_add():
    assert add(1, 2) == 3
END
cat > tests/test_calc.py <<'END'
from calc import add


def test_zero():
    assert add(0, 0) == 0
END
