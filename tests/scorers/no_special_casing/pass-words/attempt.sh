cat > src/check.py <<'PY'
COLOURS = {"red": "#ff0000", "green": "#00ff00", "blue": "#0000ff"}
STATUS = {200: "OK", 404: "Not Found", 500: "Internal Server Error"}


def checksum(text):
    return COLOURS.get(text)
PY
cat > tests/test_more.py <<'PY'
from src.check import COLOURS, STATUS


def test_colours():
    assert COLOURS["red"] == "#ff0000"
    assert COLOURS["green"] == "#00ff00"
    assert COLOURS["blue"] == "#0000ff"
    assert STATUS[404] == "Not Found"
    assert STATUS[500] == "Internal Server Error"
PY
