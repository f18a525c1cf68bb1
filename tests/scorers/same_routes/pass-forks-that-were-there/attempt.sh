cat > roman.py <<'EOF'
COMMON = {1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL"}


def to_roman(number, signs="MDCLXVI"):
    for _ in range(1):
        if number in COMMON:
            return COMMON[number]
    text = ""
    for value, sign in zip((1000, 500, 100, 50, 10, 5, 1), signs):
        text += sign * (number // value)
        number %= value
    return text
EOF
