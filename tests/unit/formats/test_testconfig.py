"""Configuration that is merged by section."""

from __future__ import annotations

import configparser
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.testconfig import ConfigUnreadable, has_pytest_section, merge_config, write_toml

pytestmark = pytest.mark.anyone


def test_equal_test_sections_leave_the_file_alone() -> None:
    old = b"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-ra'\n"
    new = b"# mine\n[tool.pytest]\nini_options = {addopts = '-ra'}\n[project]\nname = 'b'\n"
    assert merge_config("pyproject.toml", old, new) == (new, False)


@pytest.mark.parametrize(
    "new",
    [
        "[project]\nname = 'b'\n[tool.pytest.ini_options]\naddopts = '-k no'\n",
        "tool.pytest.ini_options.addopts = '-k no'\nproject.name = 'b'\n",
        "project = {name = 'b'}\ntool = {pytest = {ini_options = {addopts = '-k no'}}}\n",
        "[project]\nname = 'b'\n",
    ],
)
def test_toml_however_it_is_spelled(new: str) -> None:
    old = b"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-ra'\n"
    merged, differed = merge_config("pyproject.toml", old, new.encode())
    assert differed
    assert merged is not None
    assert tomllib.loads(merged.decode()) == {
        "project": {"name": "b"},
        "tool": {"pytest": {"ini_options": {"addopts": "-ra"}}},
    }


def test_a_plugin_of_the_product_does_not_load_itself() -> None:
    new = b"[project.entry-points.pytest11]\nmine = 'evil'\n[project.entry-points.console]\na = 'b'\n"
    merged, _ = merge_config("pyproject.toml", None, new)
    assert merged is not None
    assert tomllib.loads(merged.decode()) == {"project": {"entry-points": {"console": {"a": "b"}}}}


def test_ini_sections() -> None:
    old = "[tox]\nenvlist = py\n[testenv]\ncommands = pytest\n[flake8]\nselect = E\n"
    new = "[tox]\nenvlist =\n[testenv:x]\ncommands = true\n[flake8]\nselect = W\nmany =\n  [pytest]\n  -x\n"
    merged, differed = merge_config("tox.ini", old.encode(), new.encode())
    assert differed
    assert merged is not None
    parser = configparser.RawConfigParser()
    parser.read_string(merged.decode())
    assert {name: dict(parser.items(name)) for name in parser.sections()} == {
        "flake8": {"select": "W", "many": "\n[pytest]\n-x"},
        "tox": {"envlist": "py"},
        "testenv": {"commands": "pytest"},
    }


def test_package_json() -> None:
    old = b'{"name": "a", "scripts": {"test": "jest"}}'
    new = b'{"name": "b", "scripts": {"test": "true"}, "jest": {"bail": 1}}'
    merged, _ = merge_config("web/package.json", old, new)
    assert merged is not None
    assert json.loads(merged) == {"name": "b", "scripts": {"test": "jest"}}


def test_a_deleted_file_keeps_its_test_sections_and_an_added_one_gets_none() -> None:
    old = b"[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n"
    assert merge_config("setup.cfg", old, None) == (b"[tool:pytest]\naddopts = -q\n\n", True)
    assert merge_config("setup.cfg", None, b"[tool:pytest]\naddopts = -q\n") == (None, True)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("pyproject.toml", b"[project"), ("pyproject.toml", b"\xff"), ("package.json", b"[]"),
        ("package.json", b'{"a": ' * 100_000), ("setup.cfg", b"no section"),
        ("tox.ini", b"[DEFAULT]\na = 1\n"),
        ("setup.cfg", b"[a]\n[a]\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(path: str, data: bytes) -> None:
    with pytest.raises(ConfigUnreadable):
        merge_config(path, None, data)


@pytest.mark.parametrize(
    ("path", "data", "found"),
    [
        ("pytest.ini", b"", True),
        ("pyproject.toml", b"[tool.pytest.ini_options]\n", True),
        ("pyproject.toml", b"[tool.black]\n", False),
        ("pyproject.toml", b"[broken", False),
        ("setup.cfg", b"[tool:pytest]\n", True),
        ("tox.ini", b"[pytest]\n", True),
        ("tox.ini", b"[tox]\n", False),
    ],
)
def test_where_pytest_would_look(path: str, data: bytes, found: bool) -> None:
    assert has_pytest_section(path, data) is found


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


def _without_none(value: object) -> object:
    """TOML has no null."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value if item is not None]
    return value


@given(product=st.dictionaries(st.text(st.characters(codec="utf-8")), _values, max_size=4))
def test_what_is_merged_reads_back_as_it_was(product: dict[str, object]) -> None:
    for name in (
        "tool",
        "scripts",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "nyc",
        "c8",
        "tap",
        "karma",
        "config",
        "project",
    ):
        product.pop(name, None)
    new = json.dumps({**product, "scripts": {"test": "true"}}).encode()
    merged, _ = merge_config("package.json", b'{"scripts": {}}', new)
    assert merged is not None
    assert json.loads(merged) == {**product, "scripts": {}}
    plain = _without_none(product)
    assert isinstance(plain, dict)
    assert tomllib.loads(write_toml(plain).decode()) == plain
