mkdir -p src tests
printf 'def add(a, b):\n    return a - b\n' > src/calc.py
printf 'from src.calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n' > tests/test_calc.py
cat > uv.lock <<'LOCK'
version = 1

[[package]]
name = "pytest"
version = "8.0.0"
source = { registry = "https://pkgs.example.com/simple" }

[[package]]
name = "pluggy"
version = "1.5.0"
source = { registry = "https://pkgs.example.com/simple" }
LOCK
