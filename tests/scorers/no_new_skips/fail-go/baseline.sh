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
printf 'package calc\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal("adds")\n\t}\n}\n' > src/calc_test.go
