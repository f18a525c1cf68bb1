cat > tests/test_calc.py <<'EOF'
from src.calc import add


def test_adds():
    assert add(3, 0) == 3


def test_zero():
    assert add(0, 0) == 0
EOF
