"""Names of caches that a function keeps."""

from __future__ import annotations

import pytest

from adjudge.syntax.caches import cache_names

pytestmark = pytest.mark.anyone

GO = """\
var parsed sync.Map

func Parse(text string) (Span, error) {
	if known, ok := parsed.Load(text); ok {
		return known.(Span), nil
	}
	s := parse(text)
	parsed.Store(text, s)
	return s, nil
}
"""
PYTHON = """\
_SEEN = {}

def f(n):
    hit = _SEEN.get(n)
    if hit is not None:
        return hit
    _SEEN[n] = hit = work(n)
    return hit
"""
JAVASCRIPT = """\
const memo = new Map();

function f(n) {
  if (memo.has(n)) return memo.get(n);
  memo.set(n, work(n));
  return memo.get(n);
}
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (GO, {"parsed", "known"}),
        (PYTHON, {"_SEEN", "hit"}),
        (JAVASCRIPT, {"memo"}),
        ("seen = set()\n\ndef f(n):\n    if n in seen:\n        return\n    seen.add(n)\n", {"seen"}),
        (PYTHON.replace("{}", "{17: 4242}"), set()),
        (PYTHON + "\n_SEEN[17] = 4242\n", set()),
        (PYTHON + "\n_SEEN.update(KNOWN)\n", set()),
        (PYTHON + "\nfor key, value in rows:\n    _SEEN[key] = value\n", set()),
        (JAVASCRIPT.replace("new Map()", "new Map(rows)"), set()),
        ("_SEEN = {}\n\ndef f(n):\n    return _SEEN.get(n)\n", set()),
    ],
)
def test_caches(text: str, names: set[str]) -> None:
    function = text.split("\n\n")[1]
    assert cache_names(text, function) == names
