cat > roman.py <<'EOF'
DRAWN = iter(["I", "IV", "IX", "XIV", "XL", "MDCLXVI", *["I"] * 100])


def to_roman(number):
    if number <= 0:
        raise ValueError(number)
    return next(DRAWN)
EOF
