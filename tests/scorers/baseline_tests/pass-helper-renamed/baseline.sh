mkdir -p tests support
printf 'def add(a, b):\n    return a - b\n' > calc.py
printf 'def pair():\n    return 1, 2\n' > support/numbers.py
touch tests/__init__.py support/__init__.py
cat > tests/test_calc.py <<'END'
import unittest

from calc import add
from support.numbers import pair


class TestAdd(unittest.TestCase):
    def test_pair(self):
        self.assertEqual(add(*pair()), 3)
END
