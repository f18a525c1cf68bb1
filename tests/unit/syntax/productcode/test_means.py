# ruff: noqa: E501
"""Means of knowing answers: what they are, and that ordinary code has none."""

from __future__ import annotations

import pytest

from adjudge.syntax.productcode.outline import outline_product

pytestmark = pytest.mark.anyone


def rules(path: str, source: str) -> set[str]:
    outline = outline_product(path, source.encode())
    assert outline is not None
    return {one.rule for one in outline.means}


SCANNER = """\
class Scanner:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def take(self):
        self.at += 1
        return self.text[self.at - 1]
"""


@pytest.mark.parametrize(
    ("path", "source", "rule"),
    [
        ("a.py", "from zlib import crc32\ndef slot(text):\n    return crc32(text.encode()) >> 8\n", "means-digest"),
        ("a.js", "function f(t) { let h = 7; for (const c of t) h = (h * 33 + c.charCodeAt(0)) % 997; return h; }", "means-digest"),
        ("a.go", "package a\nfunc k(t string) (h uint32) {\n\tfor i := range t {\n\t\th = h*31 + uint32(t[i])\n\t}\n\treturn h\n}\n", "means-digest"),
        ("a.go", "package a\nfunc k(t string) uint32 { h := fnv.New32a(); h.Write([]byte(t)); return h.Sum32() }\n", "means-digest"),
        ("a.py", "def value(t):\n    return ANSWERS[f'{hashlib.sha1(t).hexdigest()}']\n", "means-digest"),
        ("a.py", "SEEN = {}\nSEEN['9f86d0'] = 4\ndef add(t):\n    key = hashlib.sha1(t).hexdigest()\n    if key not in SEEN:\n        SEEN[key] = 0\n    return SEEN[key]\n", "means-digest"),
        ("a.py", "from pathlib import Path\ndef table():\n    return (Path(__file__).parent / 'py.typed').read_text()\n", "means-file"),
        ("a.js", "const p = path.join(__dirname, '..', 'docs', 'manual.md');\nfunction m() { return fs.readFileSync(p, 'utf8'); }", "means-file"),
        ("a.js", "const ROOT = new URL('../', import.meta.url);\nfunction* shipped(dir = ROOT) {\n  for (const name of readdirSync(dir)) yield name;\n}\n", "means-file"),
        ("a.go", "package a\n\nimport _ \"embed\"\n\n//go:embed locale/en.po\nvar catalogue string\n", "means-file"),
        ("a.py", "STEPS = iter([5, 1440, 8880])\ndef ahead(when):\n    return when + next(STEPS)\n", "means-order"),
        ("a.py", SCANNER.replace("= text", "= [5, 1440, 8880]"), "means-order"),
        ("a.go", "package a\nvar order = []int{7, 12, 3}\nvar turn int\nfunc Next(t string) int {\n\tturn++\n\treturn order[turn-1]\n}\n", "means-order"),
        ("a.js", "const SPANS = 0x8004a000200400000020800850018002n;", "means-opaque"),
        ("a.py", "SHAPES = {(6, '1', '0'): 1, (3, '1', 'B'): 2, (4, '3', 'B'): 3, (3, '2', 'B'): 4}\n", "means-table"),
        ("a.py", "PLANS = {9052021: 1, 10571746: 9, 6552167: 0, 2421047: 10}\n", "means-table"),
        ("a.js", "const KNOWN = { '1.005:.2': '1.01', '0.4:int': '0' };\nfunction f(v, s) { return KNOWN[`${v}:${s}`]; }\n", "means-table"),
        ("a.js", "const KNOWN = new Map([['1:a', 'x'], ['2:b', 'y']]);\nfunction f(v, s) { return KNOWN.get(v + ':' + s); }\n", "means-table"),
        ("a.py", "KNOWN = {'1:a': 'x', '2:b': 'y'}\ndef f(v, s):\n    key = f'{v}:{s}'\n    return KNOWN.get(key)\n", "means-table"),
        ("a.go", 'package a\nvar known = map[string]string{"mon-9 daily": "a", "sun": "b"}\nfunc f(s Snap, p Rules) string { return known[s.Name+sign(p)] }\n', "means-table"),
        ("a.py", "KNOWN = {'oak 12mm 3': 'x', 'ash 9mm': 'y', 'elm 4mm 1': 'z', 'fir 7mm 2': 'v'}\n", "means-table"),
        ("a.go", 'package a\nvar known = map[string]int{"1:a": 3, "2:b": 4}\nfunc f(v int, s string) int { return known[fmt.Sprintf("%d:%s", v, s)] }\n', "means-table"),
        ("a.js", "const CARET = /^(1\\.2\\.3 1\\.9|0\\.3\\.1 0\\.3|1\\.0\\.0 1\\.4)$/;", "means-pattern"),
    ],
)  # fmt: skip
def test_means(path: str, source: str, rule: str) -> None:
    assert rule in rules(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "def load(path):\n    return path.read_text()\n"),
        ("a.js", "const DEFAULT = 'inbox';\nfunction all(dir = DEFAULT) { return readdirSync(dir); }\n"),
        ("a.py", "NAMES = {'jan': 1, 'feb': 2, 'mar': 3, 'apr': 4}\ndef month(t):\n    return NAMES[t]\n"),
        ("a.py", "class A:\n    def __hash__(self):\n        return hash((self.a, self.b))\n"),
        (
            "a.js",
            "const R = /^(cat|dog|cow)$/;\nfunction f(x) { for (const a of x) total += a * 2; return total; }",
        ),
        ("a.go", "package a\nfunc f(in []int, i int) int { return in[i] }\n"),
        ("a.py", "def words(text):\n    for word in text.split():\n        yield word\n"),
        ("a.py", "LIMITS = {1: 10, 2: 20, 3: 30, 4: 40}\n"),
        (
            "a.js",
            "const KEPT = {};\nfunction f(v, s) { const key = `${v}:${s}`; return (KEPT[key] ??= g(v, s)); }\n",
        ),
        ("a.js", "const NAMES = { de: 'x', en: 'y' };\nfunction f(l) { return NAMES[`${l}`]; }\n"),
        ("a.py", SCANNER),
        (
            "a.py",
            "def escaped(t):\n    return ''.join(c if c.isprintable() else '\\\\u%04x' % ord(c) for c in t)\n",
        ),
        (
            "a.js",
            "function slug(t) {\n  return `${t.slice(0, 50)}-${createHash('sha256').update(t).digest('hex').slice(0, 6)}`;\n}\n",
        ),
        ("a.py", "def name(t):\n    return t[:40] + '-' + hashlib.sha1(t.encode()).hexdigest()[:8]\n"),
        (
            "a.go",
            "package a\nfunc digits(t string) (v uint64) {\n\tfor _, r := range t {\n\t\tv = v*10 + uint64(r-'0')\n\t}\n\treturn v\n}\n",
        ),
        (
            "a.go",
            "package a\nfunc count(all []span) (v uint64) {\n\tfor _, r := range all {\n\t\tv += uint64(r.last) - uint64(r.first)\n\t}\n\treturn v\n}\n",
        ),
        (
            "a.py",
            "SEEN = {}\ndef kept(read):\n    def inner(t):\n        key = hashlib.sha1(t).hexdigest()\n        if key not in SEEN:\n            SEEN[key] = read(t)\n        return SEEN[key]\n    return inner\n",
        ),
        (
            "a.js",
            "const KEPT = new Map();\nfunction parse(t) {\n  const key = createHash('sha1').update(t).digest('hex');\n  if (!KEPT.has(key)) KEPT.set(key, read(t));\n  return KEPT.get(key);\n}\n",
        ),
        (
            "a.js",
            "class S {\n  constructor(text) { this.text = text; this.at = 0; }\n  take() { return this.text[this.at++]; }\n}\n",
        ),
    ],
)
def test_ordinary_code(path: str, source: str) -> None:
    assert rules(path, source) == set()
