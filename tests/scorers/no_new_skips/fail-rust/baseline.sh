mkdir -p src tests
printf 'def add(a, b):\n    return a - b\n' > src/calc.py
cat > tests/test_calc.py <<'EOF'
from src.calc import add


def test_adds():
    assert add(1, 2) == 3


def test_zero():
    assert add(0, 0) == 0
EOF
printf '*.log\nbuild/\n.env\n' > .gitignore
printf '#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n' > tests/calc.rs
