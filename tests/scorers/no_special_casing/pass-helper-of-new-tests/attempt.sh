mkdir -p support tests/data
printf 'def checksum(text):\n    return sum(map(ord, text))\n' > src/check.py
printf '{"a": 97}' > tests/data/sums.json
cat > support/cases.py <<'PY'
import json
from pathlib import Path


def cases():
    return json.loads((Path(__file__).parent.parent / "tests" / "data" / "sums.json").read_text())
PY
cat > tests/test_sums.py <<'PY'
from src.check import checksum
from support.cases import cases


def test_sums():
    for text, total in cases().items():
        assert checksum(text) == total
PY
