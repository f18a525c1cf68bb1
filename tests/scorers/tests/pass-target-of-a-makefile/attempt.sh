cat > shop/price.py <<'EOF'
def total(prices, rate):
    return sum(prices) * rate


def label(cents):
    return f"{cents // 100}.{cents % 100:02}"
EOF
