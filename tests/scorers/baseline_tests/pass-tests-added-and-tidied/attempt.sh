sed -i 's/a - b/a + b/' calc.py
mkdir -p tests
cat > tests/test_calc.py <<'END'
import unittest

from calc import add


class TestAdd(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_nothing(self):
        self.assertEqual(add(0, 0), 0)
        self.assertEqual(add(2, 2), 4)
END
