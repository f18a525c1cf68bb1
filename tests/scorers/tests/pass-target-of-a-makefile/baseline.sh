mkdir -p shop tests
cat > shop/__init__.py <<'EOF'
EOF
cat > shop/price.py <<'EOF'
def total(prices, rate):
    raise NotImplementedError


def label(cents):
    raise NotImplementedError
EOF
cat > tests/test_price.py <<'EOF'
from shop.price import label, total


def test_total():
    assert total([1, 2], 10) == 30


def test_label():
    assert label(250) == "2.50"
EOF
printf 'PYTHON ?= python3\n.PHONY: test\ntest:\n\t$(PYTHON) -m pytest -q\n' > Makefile
