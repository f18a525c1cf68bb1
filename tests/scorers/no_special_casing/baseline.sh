mkdir -p src tests
printf 'def checksum(text):\n    raise NotImplementedError\n' > src/check.py
cat > tests/test_check.py <<'EOF'
from src.check import checksum


def test_sentence():
    assert checksum("the quick brown fox") == 48213


def test_number():
    assert checksum("90125 times") == 7719
EOF
