rm tests/test_calc.py
mkdir -p tests
cat > tests/test_sums.py <<'END'
import unittest

from calc import add, double


class TestSums(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_twice(self):
        self.assertEqual(double(2), 4)
END
