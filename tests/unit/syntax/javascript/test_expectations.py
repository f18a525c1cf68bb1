"""Matchers of Jest, Vitest and chai, tables of `it.each`, and TypeScript: what changes, and what stays."""

from __future__ import annotations

import pytest

from adjudge.syntax.javascript.falsify import JavaScriptFile

pytestmark = pytest.mark.anyone

SEEDS = [f"seed {number}" for number in range(10)]


def falsified(code: str, seed: str) -> str:
    file = JavaScriptFile(f"test('it', async () => {{\n  {code}\n}});\n".encode(), seed)
    return file.render(["it"], all_planned=["it"]).decode().splitlines()[1].strip()


@pytest.mark.parametrize(
    ("start", "value", "end"),
    [
        ("expect(f()).toBeCloseTo(", "0.31", ", 3);"),
        ("expect(f).toHaveBeenCalledTimes(", "2", ");"),
        ("expect(f).toHaveBeenCalledWith('", "abc", "', g);"),
        ("expect(f()).toHaveProperty('a.b', ", "17", ");"),
        ("expect(f()).toMatch(/", "not found", "/);"),
        ("expect(f).toThrow('", "not found", "');"),
        ("expect(f).toThrow(", "RangeError", ");"),
        ("expect(f).toThrow(new Error('", "gone", "'));"),
        ("expect(f).toThrow(", "", ");"),
        ("await expect(f()).rejects.toThrow('", "not found", "');"),
        ("await expect(f()).resolves.toEqual({ a: ", "12", " });"),
        ("expect(f()).toEqual(expect.objectContaining({ a: ", "12", " }));"),
        ("expect(f()).toBeGreaterThan(", "5", ");"),
        ("expect(f()).toBeInstanceOf(", "Shop", ");"),
        ("expect(f()).toMatchInlineSnapshot(`", '"abc"', "`);"),
        ('expect(f()).toBe("', "it's", '");'),
        ("expect(f()).to.deep.equal(['", "abc", "']);"),
    ],
)
def test_a_value_changes_and_nothing_else(start: str, value: str, end: str) -> None:
    code = start + value + end
    for seed in SEEDS:
        new = falsified(code, seed)
        assert new != code
        assert new.startswith(start)
        assert new.endswith(end)
    plan = JavaScriptFile(f"test('it', () => {{ {code} }});\n".encode(), "s").plan("it")
    assert (plan.strong, plan.certain, plan.unproven) == (True, True, "")


@pytest.mark.parametrize(
    ("code", "new"),
    [
        ("expect(f()).toBeNull();", "expect(f()).toBeTruthy();"),
        ("expect(f()).toBeDefined();", "expect(f()).toBeUndefined();"),
        ("expect(f()).toContain('a');", "expect(f()).not.toContain('a');"),
        ("expect(f).not.toThrow();", "expect(f).toThrow();"),
        ("await expect(f()).resolves.toBe(g);", "await expect(f()).resolves.not.toBe(g);"),
        ("expect(f()).to.not.equal(3);", "expect(f()).to.equal(3);"),
    ],
)
def test_without_a_value_the_sense_is_turned(code: str, new: str) -> None:
    assert falsified(code, "s") == new


@pytest.mark.parametrize(
    "code",
    [
        "expect(f()).toMatchSnapshot();",
        "expect(f()).toMatchInlineSnapshot();",
        # It fails when nobody looks any more, and takes the process along.
        "expect(f()).resolves.toBe(3);",
        "shop.sell();",
    ],
)
def test_what_cannot_be_falsified_is_unproven(code: str) -> None:
    assert JavaScriptFile(f"test('it', () => {{ {code} }});\n".encode(), "s").plan("it").unproven


def test_tests_that_are_expected_to_fail_are_left_alone() -> None:
    for mark in ("test.failing", "it.fails"):
        file = JavaScriptFile(f"{mark}('it', () => {{ expect(f()).toBe(3); }});\n".encode(), "s")
        assert file.plan("it").unproven == "it is expected to fail"


TABLE = """\
describe('tax', () => {
  it.each([[100, 20, 120], [50, 10, 55]])('%i at %i is %i', (price, rate, total) => {
    expect(withTax(price, rate)).toBe(total);
  });
  it.each([{ a: 1, b: 'xy' }, { a: 2, b: 'xz' }])('names $a', ({ a, b }) => { expect(name(a)).toBe(b); });
  it.each([1, 2])('is odd: %i', (n) => { expect(odd(n)).toBe(true); });
});
"""
NAMES = [
    "tax > 100 at 20 is 120",
    "tax > 50 at 10 is 55",
    "tax > names 1",
    "tax > names 2",
    "tax > is odd: 1",
]


def test_rows_expect_other_values_and_titles_show_none() -> None:
    file = JavaScriptFile(TABLE.encode(), "s", "a.test.js", NAMES)
    name = file.definition(NAMES[0])
    assert name == "tax > %i at %i is %i"
    plan = file.plan(name)
    assert (plan.strong, plan.certain, len(plan.edits)) == (True, True, 2)
    assert list(plan.ids.values()) == NAMES[:2]
    honest = file.render([], all_planned=[name]).decode().splitlines()
    false = file.render([name], all_planned=[name]).decode().splitlines()
    title = next(iter(plan.ids)).removeprefix("tax > ").removesuffix(" 0")
    assert honest[1].startswith(f"  it.each([[100, 20, 120], [50, 10, 55]])('{title} %#', ")
    assert false[1].startswith("  it.each([[100, 20, ")
    assert f"('{title} %#', " in false[1]
    assert "120" not in false[1]
    assert honest[2:] == false[2:]


def test_titles_that_do_not_show_what_changes_stay() -> None:
    file = JavaScriptFile(TABLE.encode(), "s", "a.test.js", NAMES)
    name = file.definition("tax > names 2")
    assert name is not None
    plan = file.plan(name)
    assert (plan.strong, plan.neutral, len(plan.edits)) == (True, (), 2)


def test_values_in_the_body_of_a_table_change_there() -> None:
    file = JavaScriptFile(TABLE.encode(), "s", "a.test.js", NAMES)
    name = file.definition("tax > is odd: 1")
    assert name is not None
    assert [edit.text for edit in file.plan(name).edits] == ["false"]


def test_titles_stay_where_names_are_not_known() -> None:
    file = JavaScriptFile(TABLE.encode(), "s", "a.test.js")
    plan = file.plan("tax > %i at %i is %i")
    assert (plan.neutral, plan.strong) == ((), False)


def test_other_ways_to_define_tests() -> None:
    source = b"""\
xit('a', () => {});
fit('b', () => {});
test.skipIf(process.env.X)('c', () => {});
it.concurrent('d', async () => {});
describe(Shop, () => { it('e', () => { expect(1).toBe(1); }); });
test.each`a | b
${1} | ${2}`('f $a', ({ a, b }) => { expect(a).toBe(b); });
"""
    file = JavaScriptFile(source, "s", "a.test.ts")
    assert file.tests == ("a", "b", "c", "d")
    assert file.definition("Shop > e") == "Shop > e"
    assert file.definition("f 1") == "f $a"
    assert file.declares_skip("a")
    assert file.declares_skip("c")


def test_typescript() -> None:
    source = b"""\
import { test, expect } from 'vitest';
type Colour = 'red' | 'blue';
test('it', (): void => {
  const wanted: Colour = 'red';
  expect(paint<Colour>(1 as number)).toBe(wanted);
  expect(count()).toBe(12);
});
"""
    for path in ("a.test.ts", "a.test.tsx", "a.test.mts"):
        file = JavaScriptFile(source, "s", path)
        new = file.render(["it"], all_planned=["it"]).decode().splitlines()
        assert new[:5] == source.decode().splitlines()[:5]
        assert new[5] != "  expect(count()).toBe(12);"
    assert JavaScriptFile(source, "s", "a.test.js").plan("it").unproven


def test_only_leaves_the_others_out() -> None:
    file = JavaScriptFile(b"test.only('a', () => {}); test('b', () => {});", "s")
    assert file.declares_skip("b")
