mkdir -p tests
cat > calc.py <<'END'
def add(a, b):
    return a - b
END
cat > tests/__init__.py <<'END'
END
cat > tests/test_calc.py <<'END'
import unittest

from calc import add


class TestAdd(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_zero(self):
        self.assertEqual(add(0, 0), 0)
END
printf 'test:\n\tpython3 -m unittest discover -q -s tests -t .\n' > Makefile
