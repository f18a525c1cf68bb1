mkdir tests
touch tests/__init__.py
cat > roman.py <<'EOF'
def to_roman(number):
    return ""
EOF
cat > tests/test_roman.py <<'EOF'
import unittest

from roman import to_roman


class Roman(unittest.TestCase):
    def test_some(self):
        for number, text in ((1, "I"), (4, "IV"), (9, "IX"), (14, "XIV"), (40, "XL"), (1666, "MDCLXVI")):
            self.assertEqual(to_roman(number), text)
EOF
