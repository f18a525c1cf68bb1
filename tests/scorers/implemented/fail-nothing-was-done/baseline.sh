cat > stack.py <<'EOF'
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        raise NotImplementedError

    def pop(self):
        raise NotImplementedError


def reverse(items):
    """The items, last first."""
    pass
EOF
mkdir tests; printf 'def test_it():\n    assert 1\n' > tests/test_stack.py
