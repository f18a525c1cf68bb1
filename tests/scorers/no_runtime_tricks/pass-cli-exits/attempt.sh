cat > src/calc.py <<'PY'
import sys


def add(a, b):
    return a + b


def main():
    print(add(*map(int, sys.argv[1:])))
    sys.exit(0)


if __name__ == "__main__":
    main()
PY
