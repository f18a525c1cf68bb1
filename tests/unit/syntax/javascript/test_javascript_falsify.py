"""JavaScript test files: which tests are found, what of them changes, and what stays."""

from __future__ import annotations

import pytest

from adjudge.syntax.javascript.falsify import JavaScriptFile

SEEDS = [f"seed {number}" for number in range(20)]


def body(code: str) -> bytes:
    return f"test('it', async (t) => {{\n  {code}\n}});\n".encode()


def falsified(code: str, seed: str = "s") -> str:
    file = JavaScriptFile(body(code), seed)
    assert not file.plan("it").unproven
    return file.render(["it"], all_planned=["it"]).decode().splitlines()[1].strip()


@pytest.mark.parametrize(
    ("code", "start", "end"),
    [
        ("assert.strictEqual(add(1, 2), 35);", "assert.strictEqual(add(1, 2), ", ");"),
        ("assert.equal(4, add(1, 3));", "assert.equal(", ", add(1, 3));"),
        ("strictEqual(add(1, 2), 'three');", "strictEqual(add(1, 2), '", "');"),
        ("await assert.deepEqual(f(), { a: 17 });", "await assert.deepEqual(f(), { a: ", " });"),
        ("assert.deepStrictEqual(f(), new Set([21]));", "assert.deepStrictEqual(f(), new Set([", "]));"),
        ("assert.equal(f(), -12);", "assert.equal(f(), -", ");"),
        ("assert(f() === 44);", "assert(f() === ", ");"),
        ("t.assert.equal(f(), 7);", "t.assert.equal(f(), ", ");"),
        ("expect(f()).toBe(`abc`);", "expect(f()).toBe(`", "`);"),
        ("expect(f()).toEqual([true]);", "expect(f()).toEqual([", "]);"),
        ("const e = 50; assert.equal(f(), e);", "const e = ", "; assert.equal(f(), e);"),
        ("assert.throws(f, { message: 'gone' });", "assert.throws(f, { message: '", "' });"),
        ("assert.throws(f, /not found/);", "assert.throws(f, /", "/);"),
        ("await assert.rejects(f, TypeError);", "await assert.rejects(f, ", ");"),
    ],
)
def test_a_value_changes_and_nothing_else(code: str, start: str, end: str) -> None:
    for seed in SEEDS:
        new = falsified(code, seed)
        assert new != code
        assert new.startswith(start)
        assert new.endswith(end)
    plan = JavaScriptFile(body(code), "s").plan("it")
    assert plan.strong
    assert plan.certain


@pytest.mark.parametrize(
    ("code", "new"),
    [
        ("assert.equal(f(), g());", "assert.notEqual(f(), g());"),
        ("assert.ok(f() > 3);", "assert.ok(!(f() > 3));"),
        ("assert(f());", "assert(!(f()));"),
        ("assert.throws(f);", "assert.doesNotThrow(f);"),
        ("expect(f()).toBeTruthy();", "expect(f()).toBeFalsy();"),
        ("expect(f()).toBe(g());", "expect(f()).not.toBe(g());"),
        ("expect(f()).not.toBe(3);", "expect(f()).toBe(3);"),
        ("const n = 3; assert.equal(f(n), n);", "const n = 3; assert.notEqual(f(n), n);"),
        ("assert.equal(f(), null);", "assert.notEqual(f(), null);"),
    ],
)
def test_without_a_value_the_sense_is_turned(code: str, new: str) -> None:
    assert falsified(code) == new
    assert not JavaScriptFile(body(code), "s").plan("it").strong


@pytest.mark.parametrize(
    "code",
    [
        "if (f()) { assert.equal(f(), 3); }",
        "if (f()) return; assert.equal(f(), 3);",
        "for (const x of xs) assert.equal(f(x), 3);",
        "f().then((x) => assert.equal(x, 3));",
        "try { assert.equal(f(), 3); } catch {}",
    ],
)
def test_what_may_not_be_reached_is_not_certain(code: str) -> None:
    plan = JavaScriptFile(body(code), "s").plan("it")
    assert not plan.unproven
    assert not plan.certain


@pytest.mark.parametrize("code", ["f();", "check(f(), 3);", "console.assert;", "assert.fail('no');"])
def test_what_cannot_be_changed_is_unproven(code: str) -> None:
    assert JavaScriptFile(body(code), "s").plan("it").unproven


def test_names_are_nested_as_node_reports_them() -> None:
    source = b"""\
import t, { describe, it as check } from 'node:test';
describe('a', () => { check('b', () => {}); describe.skip("c", () => { t('it\\'s', () => {}); }); });
t('d', async (c) => { await c.test('e', () => {}); });
for (const n of [1, 2]) t(`n ${n}`, () => {});
"""
    file = JavaScriptFile(source, "s")
    assert file.tests == ("a > b", "a > c > it's", "d", "d > e")
    assert file.definition("n 2") == "n ${n}"
    assert file.definition("d > e #2") == "d > e"
    assert file.definition("nothing") is None
    assert file.mentions("d") == {"d > e"}
    assert file.always_runs("d", "d > e")
    assert file.declares_skip("a > c > it's")
    assert not file.declares_skip("a > b")


def test_lines_stay() -> None:
    source = body("assert.deepEqual(f(), {\n    a: 'x',\n    b: [1, 2],\n  });")
    for seed in SEEDS:
        file = JavaScriptFile(source, seed)
        new = file.render(["it"], all_planned=["it"])
        assert new != source
        assert new.count(b"\n") == source.count(b"\n")
        assert file.render([], all_planned=["it"]) == source


def test_a_file_that_cannot_be_read_proves_nothing() -> None:
    file = JavaScriptFile(b"test('it', () => { assert.equal(1, 1) ", "s")
    assert file.tests == ()
    assert "cannot be parsed" in file.plan("it").unproven
    assert file.render([], all_planned=[]).startswith(b"test")
