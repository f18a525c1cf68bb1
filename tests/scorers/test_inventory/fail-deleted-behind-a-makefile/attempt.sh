mkdir -p tests
cat > tests/test_calc.py <<'END'
import unittest

from calc import add


class TestCalc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
END
