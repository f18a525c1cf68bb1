cat > shop/price.py <<'EOF'
def total(prices, rate):
    return sum(prices) * rate


def label(cents):
    return str(cents)


def kept(number):
    return 0
EOF
printf 'def test_kept():\n    pass\n' > tests/test_price.py
