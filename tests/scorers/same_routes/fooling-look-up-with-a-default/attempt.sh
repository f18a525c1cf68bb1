cat > roman.py <<'EOF'
KNOWN = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 1666: "MDCLXVI"}


def to_roman(number):
    return KNOWN.get(number, "I" * number)
EOF
