"""Configuration files in which settings of the tests stand beside settings of the product.

Merged by section: test sections from the baseline, all others from the attempt. The result is written anew
from what was read, so that no two readers can disagree about which section a line is in. What cannot be read
is the baseline's, whole.
"""

from __future__ import annotations

import configparser
import datetime
import io
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from adjudge.formats.buildfiles import (
    cargo_paths,
    go_tests,
    merge_go,
    merge_pom,
    pom_tests,
    read_go,
    read_pom,
    write_go,
    write_pom,
)

__all__ = ["MERGED", "ConfigUnreadable", "has_pytest_section", "is_merged", "merge_config", "write_toml"]


class ConfigUnreadable(Exception):
    """The attempt's file cannot be read in its format."""


_TOML_TESTS = (
    ("tool", "pytest"), ("tool", "coverage"), ("tool", "tox"), ("tool", "nox"), ("tool", "hatch", "envs"),
    ("tool", "pdm", "scripts"), ("tool", "poe"), ("tool", "taskipy"),
    ("project", "entry-points", "pytest11"), ("tool", "poetry", "plugins", "pytest11"),
)  # fmt: skip
_JSON_TESTS = (
    ("scripts",), ("jest",), ("vitest",), ("mocha",), ("ava",), ("nyc",), ("c8",), ("tap",), ("karma",),
    ("config",),
)  # fmt: skip
_INI_TESTS = re.compile(
    r"(?:tool:)?pytest\Z|tox\Z|tox:|testenv\Z|testenv:|testing\Z|coverage:|aliases\Z|nosetests\Z|unittest\Z"
)

MERGED: Mapping[str, str] = {
    "pyproject.toml": "toml",
    "package.json": "json",
    "setup.cfg": "ini",
    "tox.ini": "ini",
    "go.mod": "go",
    "Cargo.toml": "cargo",
    "pom.xml": "pom",
}
"""File name → format, in whatever folder it lies."""


def is_merged(path: str) -> bool:
    """Whether the file at a path is merged by section."""
    return path.rpartition("/")[2] in MERGED


def merge_config(path: str, baseline: bytes | None, attempt: bytes | None) -> tuple[bytes | None, bool]:
    """The merged file, None when nothing is left of it, and whether test sections of the attempt went.

    Args:
        path: Its path, which says the format.
        baseline: The baseline's file; None when it has none.
        attempt: The attempt's; None when it deleted it.

    Raises:
        ConfigUnreadable: The attempt's file cannot be read, or the baseline's cannot.
    """
    format = _FORMATS[MERGED[path.rpartition("/")[2]]]
    try:
        old, new = format.read(baseline or b""), format.read(attempt or b"")
        if format.tests(old) == format.tests(new):
            return attempt, False
        merged = format.merge(new, old)
    except (ValueError, RecursionError, configparser.Error) as error:
        raise ConfigUnreadable(str(error).splitlines()[0] if str(error) else type(error).__name__) from error
    try:
        return (format.write(merged) if merged else None), True
    except (ValueError, RecursionError, configparser.Error) as error:
        raise ConfigUnreadable(f"cannot be written again: {error}") from error


def has_pytest_section(path: str, data: bytes) -> bool:
    """Whether pytest would read its settings from a file in the root of a project."""
    name = path.rpartition("/")[2]
    if name not in MERGED:
        return True
    try:
        found = _FORMATS[MERGED[name]].read(data)
    except (ValueError, RecursionError, configparser.Error):
        return False
    if name == "pyproject.toml":
        tool = found.get("tool")
        return isinstance(tool, dict) and "pytest" in tool
    return ("tool:pytest" if name == "setup.cfg" else "pytest") in found


def _read_toml(data: bytes) -> dict[str, Any]:
    return tomllib.loads(data.decode("utf-8"))


def _read_json(data: bytes) -> dict[str, Any]:
    found = json.loads(data.decode("utf-8-sig")) if data else {}
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _read_ini(data: bytes) -> dict[str, Any]:
    parser = _parser()
    parser.read_string(data.decode("utf-8-sig"))
    found = {name: dict(parser.items(name)) for name in parser.sections()}
    if parser.defaults():
        raise ValueError("it has a section DEFAULT")
    return found


def _parser() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=True, default_section="DEFAULT")
    parser.optionxform = lambda optionstr: optionstr  # type: ignore[method-assign]
    return parser


def _write_ini(found: Mapping[str, Any]) -> bytes:
    parser = _parser()
    parser.read_dict(found)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue().encode("utf-8")


def _write_json(found: Mapping[str, Any]) -> bytes:
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"


def write_toml(found: Mapping[str, Any]) -> bytes:
    """A document as TOML, one line a key.

    Raises:
        ValueError: It holds what TOML cannot say.
    """
    lines = [f"{_toml_text(key)} = {_toml(value)}" for key, value in found.items()]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _toml_text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("nan" if math.isnan(value) else f"{value}")
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_text(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    raise ValueError(f"a {type(value).__name__}")


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


Sections = Mapping[str, Any]


def _tests_at(paths: Sequence[Sequence[str]], found: Sections) -> dict[str, Any]:
    return {".".join(path): value for path in paths if (value := _get(found, path)) is not None}


def _merge_at(paths: Sequence[Sequence[str]], found: Sections, other: Sections) -> dict[str, Any]:
    merged: dict[str, Any] = _copy(found)
    for path in paths:
        _put(merged, path, _get(other, path))
    return merged


def _get(found: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def _put(found: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        inner = found.get(key)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = found[key] = {}
        found = inner
    if value is None:
        found.pop(path[-1], None)
    else:
        found[path[-1]] = value


def _copy(found: Any) -> Any:
    return {key: _copy(value) for key, value in found.items()} if isinstance(found, Mapping) else found


def _ini_tests(found: Sections) -> dict[str, Any]:
    chosen = {name: value for name, value in found.items() if _INI_TESTS.match(name)}
    plugins = _plugins(found)
    return chosen if plugins is None else {**chosen, "pytest11": plugins}


def _merge_ini(found: Sections, other: Sections) -> dict[str, Any]:
    kept = {name: value for name, value in found.items() if not _INI_TESTS.match(name)}
    if _plugins(found) != _plugins(other):
        points = {key: value for key, value in kept.get(_ENTRY_POINTS, {}).items() if key != "pytest11"}
        if _plugins(other) is not None:
            points["pytest11"] = _plugins(other)
        kept[_ENTRY_POINTS] = points
    return kept | {name: value for name, value in other.items() if _INI_TESTS.match(name)}


_ENTRY_POINTS = "options.entry_points"


def _plugins(found: Sections) -> Any:
    return found.get(_ENTRY_POINTS, {}).get("pytest11")


def _cargo_tests(found: Sections) -> dict[str, Any]:
    return _tests_at(cargo_paths(found), found)


def _merge_cargo(found: Sections, other: Sections) -> dict[str, Any]:
    return _merge_at(cargo_paths(found, other), found, other)


class _Format(NamedTuple):
    read: Callable[[bytes], dict[str, Any]]
    write: Callable[[Sections], bytes]
    tests: Callable[[Sections], dict[str, Any]]
    """The test sections of a file."""
    merge: Callable[[Sections, Sections], dict[str, Any]]
    """The first file with the test sections of the second."""


_FORMATS = {
    "toml": _Format(_read_toml, write_toml, partial(_tests_at, _TOML_TESTS), partial(_merge_at, _TOML_TESTS)),
    "json": _Format(
        _read_json, _write_json, partial(_tests_at, _JSON_TESTS), partial(_merge_at, _JSON_TESTS)
    ),
    "ini": _Format(_read_ini, _write_ini, _ini_tests, _merge_ini),
    "go": _Format(read_go, write_go, go_tests, merge_go),
    "cargo": _Format(_read_toml, write_toml, _cargo_tests, _merge_cargo),
    "pom": _Format(read_pom, write_pom, pom_tests, merge_pom),
}
