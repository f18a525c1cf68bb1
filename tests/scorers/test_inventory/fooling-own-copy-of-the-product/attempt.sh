mkdir -p tests
cat > tests/test_calc.py <<'END'
import unittest

from calc import double


def add(a, b):
    return a + b


class TestCalc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_double(self):
        self.assertEqual(double(2), 4)
END
