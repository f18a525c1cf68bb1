mkdir -p shop tests
touch shop/__init__.py
cat > shop/price.py <<'EOF'
def total(prices, rate):
    return sum(prices)


def label(cents):
    return str(cents)


def kept(number):
    return number * 2
EOF
printf 'from shop.price import kept\n\n\ndef test_kept():\n    assert kept(2) == 4\n' > tests/test_price.py
