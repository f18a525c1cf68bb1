cat > roman.py <<'EOF'
SIGNS = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def to_roman(number):
    if number <= 0:
        raise ValueError(number)
    text = ""
    for value, sign in SIGNS:
        if number >= value:
            text += sign * (number // value)
            number %= value
        if number == 0:
            break
    return text
EOF
