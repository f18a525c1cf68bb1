"""Sources that are made to hurt whoever parses them: too large, too deep, not text, written by nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.product import ProductScanCollector
from adjudge.evidence.suites import SuiteScanCollector
from adjudge.records.evidence import ProductScan, SuiteScan
from adjudge.syntax.grammars import MAX_SOURCE_BYTES
from adjudge.testing.attempts import Attempt, MemoryContents, Thing

pytestmark = pytest.mark.anyone

DEEP = 5_000
HOSTILE = {
    "parentheses.py": b"x = " + b"(" * DEEP + b"1" + b")" * DEEP + b"\n",
    "open.py": b"assert f(" * DEEP,
    "blocks.py": b"".join(b" " * n + b"if a == 1:\n" for n in range(300)) + b" " * 300 + b"return 2\n",
    "lists.py": b"T = " + b"[" * DEEP + b"]" * DEEP + b"\n",
    "chain.py": b"x = " + b"a.b(1)." * DEEP + b"c\n",
    "sums.py": b"def test_a():\n    assert " + b"1 + " * DEEP + b"1 == 2\n",
    "rows.py": b"T = {" + b"".join(b"%d: %d," % (n, n * 7) for n in range(8_000)) + b"}\n",
    "branches.py": b"def f(n):\n"
    + b"".join(b"    if n == %d: return %d\n" % (n, n * 3) for n in range(2_000)),
    "names.py": b"".join(b"a%d = os.b%d\n" % (n, n) for n in range(5_000)),
    "latin.py": "ä = 'ü'\n".encode("latin-1") * 500 + b"\xff\xfe\x00\x00\xed\xa0\x80\n",
    "nul.py": b"x = 1\0\n" * 2_000,
    "braces.js": b"({" * DEEP + b"a" + b"})" * DEEP,
    "calls.js": b"f(() => {" * 1_500 + b"})" * 1_500,
    "minified.js": b"!function(){" + b"var a=1;if(a===1){b=2}else{c(a,'x')}" * 2_500 + b"}();",
    "ternary.ts": b"const f = (n) => " + b"n === 1 ? 2 : " * DEEP + b"3;\n",
    "template.ts": b"`${" * 2_000 + b"}`" * 2_000,
    "composite.go": b"package a\nvar x = T{" + b"{" * DEEP + b"}" * DEEP + b"}\n",
    "switch.go": b"package a\nfunc f(n int) int {\nswitch n {\n"
    + b"".join(b"case %d:\nreturn %d\n" % (n, n) for n in range(2_000)) + b"}\n}\n",
    "not.go": b"def f():\n    return 1\n" * 300,
    "Deep.java": b"class A { int x = " + b"(" * DEEP + b"1" + b")" * DEEP + b"; }\n",
    "deep.rs": b"fn f() { " + b"{" * DEEP + b"}" * DEEP + b" }\n",
    "deep.rb": b"x = " + b"[" * DEEP + b"]" * DEEP + b"\n",
    "empty.py": b"",
}  # fmt: skip


@pytest.fixture(scope="module")
def outliner() -> Iterator[Outliner]:
    """One child for all of them: whatever a file does to it, the next one is answered."""
    with Outliner(file_within_s=60) as made:
        yield made


@pytest.mark.parametrize("name", HOSTILE)
def test_every_reader_answers_or_says_why_not(name: str, outliner: Outliner) -> None:
    assert len(HOSTILE[name]) <= MAX_SOURCE_BYTES
    for read in (
        outliner.outline_product,
        outliner.outline_examples,
        outliner.outline_tests,
        outliner.outline,
    ):
        try:
            read(name, HOSTILE[name])
        except OutlineUnavailable as why:
            pytest.fail(f"{read.__name__}: {why}")


def test_a_path_may_be_anything(outliner: Outliner) -> None:
    outline = outliner.outline_product("a b/\udcff\n%41.py", b"import os\nos._exit(0)\n", [(2, 2)])
    assert outline is not None
    assert [act.rule for act in outline.acts] == ["exits-process"]


class _Endless(MemoryContents):
    """Says that it has a hundred megabytes, and fails whoever wants them all."""

    def _data(self, max_bytes: int) -> bytes:
        assert max_bytes <= MAX_SOURCE_BYTES + 1
        return b"x" * max_bytes

    def new(self, change: object, *, max_bytes: int) -> bytes:
        return self._data(max_bytes)

    def old(self, change: object, *, max_bytes: int) -> bytes:
        return self._data(max_bytes)

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        return self._data(max_bytes)


def test_a_huge_file_is_never_read_whole() -> None:
    files: dict[str, Thing] = {"big.py": b"x", "tests/test_big.py": b"x"}
    subject = Attempt({}, files).subject()._replace(contents=_Endless({}, files))
    product = asyncio.run(ProductScanCollector().collect(ProductScan(test_globset=("tests/*",)), subject))
    assert [(file.path, file.after) for file in product.files] == [("big.py", None)]
    assert "larger than" in product.files[0].note
    suites = asyncio.run(SuiteScanCollector().collect(SuiteScan(test_globset=("tests/*",)), subject))
    assert [file.readable for file in suites.files] == [False]


def test_files_that_take_too_long_are_not_asked_for_one_after_another() -> None:
    with Outliner(file_within_s=0.0) as outliner:
        said = []
        for _ in range(5):
            with pytest.raises(OutlineUnavailable) as why:
                outliner.outline_product("a.py", b"x = 1\n")
            said.append(str(why.value))
    assert "3 files before it could not be parsed" in said[3]
    assert said[3] == said[4]
