cat > roman.py <<'EOF'
COMMON = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 1666: "MDCLXVI"}


def to_roman(number):
    return COMMON[number]
EOF
