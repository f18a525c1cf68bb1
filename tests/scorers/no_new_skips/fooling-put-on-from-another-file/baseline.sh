mkdir -p tests
cat > tests/test_calc.py <<'END'
import unittest


class CalcTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 2, 3)

    def test_zero(self):
        self.assertEqual(0 + 0, 0)
END
