mkdir -p tests
cat > calc.py <<'END'
def add(a, b):
    return a + b


def double(a):
    return 2 * a
END
cat > tests/__init__.py <<'END'
END
cat > tests/test_calc.py <<'END'
import unittest

from calc import add, double


class TestCalc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_double(self):
        self.assertEqual(double(2), 4)
END
printf 'test:\n\tpython3 -m unittest discover -q -s tests -t .\n' > Makefile
