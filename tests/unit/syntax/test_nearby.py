"""Tests with other inputs that write down what they are answered."""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.syntax.nearby.data import is_table, near_data
from adjudge.syntax.nearby.literals import near_literal
from adjudge.syntax.nearby.writing import near_source

pytestmark = pytest.mark.anyone


def near(path: str, source: str, turn: int, target: str = "/nonexistent") -> str:
    made = near_source(path, source.encode(), first=1, turn=turn, target=target, seed="a")
    assert made is not None
    return made.text


def changed(path: str, source: str, turns: int = 12) -> set[str]:
    """Every literal that stands instead of another in one of the turns."""
    found: set[str] = set()
    for turn in range(1, turns + 1):
        made = near_source(path, source.encode(), first=1, turn=turn, target="/nonexistent", seed="a")
        assert made is not None
        found |= {f"{one.line}: {one.text}" for one in made.changed}
    return found


@pytest.mark.parametrize(
    ("kind", "written", "shape"),
    [
        ("integer", "7", r"[1-9]\d?"),
        ("integer", "0", r"[1-9]"),
        ("integer", "1", r"[1-9]"),
        ("int_literal", "1666", r"16[67]\d"),
        ("float", "2.50", r"2\.[45]\d"),
        ("float", "0.1", r"[0-9]\.[0-9]"),
        ("string", '"12:30"', r'"\d\d:\d\d"'),
        ("string", "'potion'", r"'[a-z]{6}'"),
        ("string", '"A\\nb"', r'"[A-Z]\\n[a-z]"'),
        ("string", '"\\x41b"', r'"\\x41[a-z]"'),
        ("string", 'b"ab"', r'b"[a-z]{2}"'),
        ("interpreted_string_literal", '"%d of 3"', r'"%d [a-z]{2} \d"'),
        ("raw_string_literal", "`pea, 2`", r"`[a-z]{3}, \d`"),
    ],
)
@pytest.mark.parametrize("attempt", range(8))
def test_the_next_literal_has_the_same_shape(kind: str, written: str, shape: str, attempt: int) -> None:
    made = near_literal(kind, written, attempt, random.Random(attempt))
    assert made is not None
    assert made != written
    assert re.fullmatch(shape, made)


@pytest.mark.parametrize(
    ("kind", "written"),
    [("integer", "0x1f"), ("float", "1e9"), ("string", '""'), ("string", "'- / -'"), ("string", 'f"a"')],
)
def test_what_has_no_sure_neighbour_stays(kind: str, written: str) -> None:
    assert near_literal(kind, written, 0, random.Random(0)) is None


SUITE = """\
from __future__ import annotations
\"\"\"Tests.\"\"\"
import pytest

from shop import price, Basket

RATES = [3, 5]


def test_one():
    assert price("tea", 2) == 14
    basket = Basket(7)
    assert basket.total == 8


@pytest.mark.parametrize("given, want", [(1, 2), (3, 4), (5, 6)])
def test_rows(given, want):
    \"\"\"Says 99 things.\"\"\"
    with pytest.raises(ValueError, match="no 77"):
        price(given, f"{given}x4")
"""


def test_inputs_are_changed_and_expectations_are_not() -> None:
    found = changed("test_shop.py", SUITE)
    lines = {one.partition(":")[0] for one in found}
    assert {"7", "11", "12", "16"} <= lines
    assert not [one for one in found if one.startswith(("13:", "18:", "19:"))]
    assert not [one for one in found if one.startswith("11:") and not re.search(r'"[a-z]{3}"|: [0-9]$', one)]


def test_own_inputs_stay_at_first() -> None:
    made = near_source("test_shop.py", SUITE.encode(), first=1, turn=0, target="/t", seed="a")
    assert made is not None
    assert made.changed == ()
    assert 'price("tea", 2)' in made.text


def test_what_is_chosen_is_fixed_by_the_seed() -> None:
    assert near("test_shop.py", SUITE, 3) == near("test_shop.py", SUITE, 3)


@pytest.mark.parametrize("turn", range(13))
def test_python_stays_python(turn: int) -> None:
    ast.parse(near("test_shop.py", SUITE, turn))


def test_answers_are_written_down_and_checks_are_not_heard(tmp_path: Path) -> None:
    source = """\
class Held:
    def __init__(self):
        self.count, self._own = 3, 9


def test_all():
    assert "a".upper() == "B"
    held = Held()
    assert held.count == 4
    assert [held.count, {2.5: None}] == sorted([1])
    assert len("abc") == 3


test_all()
"""
    said = tmp_path / "said"
    file = tmp_path / "test_all.py"
    file.write_text(near("test_all.py", source, 0, str(said)))
    subprocess.run([sys.executable, str(file)], check=True)
    answers = [line.split(" ", 2)[2] for line in said.read_text().splitlines()]
    assert {"'A'", "3", "[1]"} <= set(answers)
    assert any(answer.startswith("Held") and "9" not in answer for answer in answers)


GO = """\
package shop

import "testing"

func TestPrice(t *testing.T) {
	got, err := Price("tea", 2)
	if err != nil || got != 14 {
		t.Fatalf("got %d, want 14", got)
	}
	if got := Total(3); got != 4 {
		t.Errorf("7")
	}
	for name, want := range map[string]int{"a": 1} {
		if Len(name) != want {
			t.Error(name)
		}
	}
	same(t, Join("x", 5), "x5")
}
"""


def test_go_tests_write_down_what_they_assign_and_compare() -> None:
    made = near_source("shop_test.go", GO.encode(), first=4, turn=0, target="/t", seed="a")
    assert made is not None
    assert "; adjudgeNear__(4, got, err)" in made.text
    assert "adjudgeNear__(" in made.text.split("Total(3);")[1].split("{")[0]
    assert re.search(r'same\(t, adjudgeNearValue__\(\d+, Join\("x", 5\)\)', made.text)
    assert "adjudgeNearUnordered__++; for name" in made.text
    assert list(made.beside) == ["adjudge_near_shop_test.go"]
    assert "[T any]" in made.beside["adjudge_near_shop_test.go"]


def test_a_buffer_of_a_go_test_is_no_benchmark() -> None:
    source = (
        GO + '\nfunc TestB(t *testing.T) {\n\tvar b bytes.Buffer\n\tcheck(t, "a", b.String(), b.Name())\n}\n'
    )
    text = near("shop_test.go", source, 0)
    assert re.search(r"adjudgeNearValue__\(\d+, b\.String\(\)\)", text)
    assert ", b.Name())" in text


def test_old_go_gets_no_type_parameters() -> None:
    made = near_source("shop_test.go", GO.encode(), first=1, turn=0, target="/t", seed="a", generic=False)
    assert made is not None
    assert "adjudgeNearValue__" not in made.text + made.beside["adjudge_near_shop_test.go"]


def test_messages_of_go_tests_are_no_inputs() -> None:
    assert {one.partition(":")[0] for one in changed("shop_test.go", GO)} <= {"6", "10", "13", "18"}


SCRIPT = """\
import test from "node:test";
import assert from "node:assert";
import { price, Shop } from "../shop.js";

test("prices of 2 kinds", async () => {
  assert.equal(price("tea", 2), 14);
  const shop = new Shop({ open: 9, want: 3 });
  assert.deepEqual(await shop.list("a1"), ["a1"]);
  expect(shop.total(5)).toBe(6);
});
"""


def test_scripts_write_down_what_calls_give() -> None:
    made = near_source("shop.test.js", SCRIPT.encode(), first=1, turn=0, target="/t", seed="a")
    assert made is not None
    assert re.search(r'__adjudge_asked__\(\d+, \(\) => price\("tea", 2\)\)', made.text)
    assert re.search(r'__adjudge_later__\(\d+, async \(\) => await shop\.list\("a1"\)\)', made.text)
    assert "try{__adjudge_near__(" in made.text


REFUSING = {
    "test_rows.py": """\
def half(n):
    if n % 2:
        raise ValueError(n)
    return n // 2

def test_one(n):
    got = half(n)
    assert got == 1

for n in (2, 3, 8):
    try:
        test_one(n)
    except ValueError:
        pass
""",
    "rows.test.cjs": """\
function half(n) {
  if (n % 2) throw new RangeError(n);
  return n / 2;
}
async function testOne(n) {
  const got = half(n);
}
async function testLater(n) {
  const got = await half(n);
}
async function all() {
  for (const n of [2, 3, 8]) {
    try { await testOne(n); } catch {}
    try { await testLater(n); } catch {}
  }
}
all();
""",
}


@pytest.mark.parametrize("name", sorted(REFUSING))
def test_calls_that_fail_are_written_down_in_their_place(name: str, tmp_path: Path) -> None:
    said, file = tmp_path / "said", tmp_path / name
    file.write_text(near(name, REFUSING[name], 0, str(said)))
    subprocess.run([sys.executable if name.endswith(".py") else "node", str(file)], check=True)
    answers: dict[str, list[str]] = {}
    for line in said.read_text().splitlines():
        _, number, answer = line.split(" ", 2)
        answers.setdefault(number, []).append(answer)
    assert list(answers.values()).count(["1", "!", "4"]) >= 1
    assert all(len(found) != 2 or "!" not in found for found in answers.values())


def test_names_and_expectations_of_scripts_are_no_inputs() -> None:
    found = changed("shop.test.js", SCRIPT)
    assert {one.partition(":")[0] for one in found} == {"6", "7", "8", "9"}
    assert not {"6: 15", "6: 13", "9: 5"} & found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.rb", "assert_equal 1, f(2)"),
        ("test_a.py", "def test_a(:\n"),
        ("test_a.py", "X = 1\n"),
        ("a_test.go", "func TestA(t *testing.T) { f(1) }"),
    ],
)
def test_nothing_is_made_of_what_cannot_be_told(path: str, source: str) -> None:
    assert near_source(path, source.encode(), first=1, turn=1, target="/t", seed="a") is None


def test_bytes_that_are_no_text_are_left_alone() -> None:
    source = b"def test_a():\n    assert f('\xff') == 1\n"
    assert near_source("test_a.py", source, first=1, turn=1, target="/t", seed="a") is None


def test_in_some_turns_words_are_others_wherever_they_stand() -> None:
    source = "def test_a():\n" + "".join(
        f'    assert f("{word}", "{word.upper()} 1") == g("{word}\\n")\n'
        for word in ("pea", "kale", "beet", "leek", "dill", "mint", "sage", "chard")
    )
    text = near("test_a.py", source, 5)
    rows = re.findall(r'f\("([a-z]+)", "([A-Z]+) 1"\).*?g\("([a-z]+)\\n"\)', text)
    assert len(rows) == 8
    assert all(one == other.lower() == last for one, other, last in rows)
    assert (
        0
        < len({one for one, *_ in rows} - {"pea", "kale", "beet", "leek", "dill", "mint", "sage", "chard"})
        < 8
    )


def test_in_some_turns_texts_are_those_of_other_places() -> None:
    source = "def test_a():\n    assert f('MKT', 'a1') == 1\n    assert f('UNI', 'b7') == 2\n"
    found = re.findall(r"f\('(\w+)', '(\w+)'\)", near("test_a.py", source, 2))
    assert found in ([("UNI", "a1"), ("UNI", "b7")], [("MKT", "b7"), ("UNI", "b7")]) or len(found) == 2
    assert {one for pair in found for one in pair} <= {"MKT", "UNI", "a1", "b7"}
    assert found != [("MKT", "a1"), ("UNI", "b7")]


def test_data_get_other_values_and_stay_what_they_are() -> None:
    data = b'{"stay": [{"from": "2024-03-08T09:00", "cents": 1200}, {"name": "Ctrl+K"}]}\n'
    for number in range(30):
        made = near_data(data, number=number, seed="a")
        assert made is not None
        assert made != data
        first, second = json.loads(made)["stay"]
        assert (first.keys(), second.keys()) == ({"from", "cents"}, {"name"})
        assert len(made) == len(data)
    assert near_data(data, number=4, seed="a") == near_data(data, number=4, seed="a")


@pytest.mark.parametrize("data", [b"", b"- # -", b"a1 b2_3", b"null", b"\xff 12", b"1\0", b"1\n" * 40_000])
def test_data_without_values_are_left_alone(data: bytes) -> None:
    assert near_data(data, number=0, seed="a") is None


TABLES = {
    "JSON": '{"cases": [' + ", ".join(f'{{"n": {n}1, "want": {n}7}}' for n in range(1, 9)) + "]}",
    "lines": "".join(f"{n}1 | Oak\n" for n in range(1, 9)),
}


@pytest.mark.parametrize("kind", sorted(TABLES))
def test_half_of_the_rows_of_a_table_are_changed(kind: str) -> None:
    data = TABLES[kind].encode()
    assert is_table(data)
    made = near_data(data, number=0, seed="a")
    assert made is not None
    rows = re.findall(rb"\d\d(?= \||, .want)", data), re.findall(rb"\d\d(?= \||, .want)", made)
    assert sum(one != other for one, other in zip(*rows, strict=True)) == 4
    assert re.findall(rb"want.: \d+", made) == re.findall(rb"want.: \d+", data)


@pytest.mark.parametrize(
    "text", ["", "[1, 2, 3, 4, 5]", '{"a": [{"b": 1}]}', "A letter,\nand another.\n" * 9]
)
def test_a_document_is_no_table(text: str) -> None:
    assert not is_table(text.encode())
