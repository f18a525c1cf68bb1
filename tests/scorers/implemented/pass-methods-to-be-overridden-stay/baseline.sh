cat > shapes.py <<'EOF'
from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    def name(self):
        raise NotImplementedError


class Base:
    def draw(self):
        raise NotImplementedError


class Square(Base):
    def __init__(self, side):
        self.side = side

    def draw(self):
        return "[]" * self.side

    def close(self):
        pass
EOF
