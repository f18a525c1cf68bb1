cat > stack.py <<'EOF'
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()


def reverse(items):
    """The items, last first."""
    return items[::-1]
EOF
