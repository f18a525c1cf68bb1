mkdir -p tests support
cat > calc.py <<'END'
def add(a, b):
    return a - b
END
touch tests/__init__.py support/__init__.py
cat > support/checks.py <<'END'
import unittest


class SumCase(unittest.TestCase):
    def check_sum(self, found, expected):
        self.assertEqual(found, expected)
END
cat > tests/test_calc.py <<'END'
from calc import add
from support.checks import SumCase


class TestAdd(SumCase):
    def test_add(self):
        self.check_sum(add(1, 2), 3)

    def test_zero(self):
        self.check_sum(add(0, 0), 0)
END
