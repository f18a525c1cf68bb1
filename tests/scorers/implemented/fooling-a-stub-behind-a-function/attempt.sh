cat > stack.py <<'EOF'
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        return _push(self, item)

    def pop(self):
        return self.items.pop()


def _push(stack, item):
    raise NotImplementedError


def reverse(items):
    return items[::-1]
EOF
