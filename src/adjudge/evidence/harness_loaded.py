"""Which files settings of a test run have loaded, whatever those files are called."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any, Final

from adjudge.contracts import Subject
from adjudge.formats.harness.outline import MAX_CONFIG_BYTES

__all__ = ["LoadedFiles"]

_ENDINGS: Final = ("js", "cjs", "mjs", "ts", "cts", "mts")
_JAVASCRIPT: Final = (
    *(f"{name}.config.{end}" for name in ("jest", "vitest", "vite", "babel", "ava") for end in _ENDINGS),
    *(f".mocharc.{ending}" for ending in ("js", "cjs", "json", "jsonc", "yml", "yaml")),
    "jest.config.json", ".babelrc", ".babelrc.json", ".swcrc", "bunfig.toml", ".pnpmfile.cjs",
)  # fmt: skip
_PYTHON: Final = (
    "pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py",
    "tests/conftest.py", "test/conftest.py",
)  # fmt: skip
_TABLES: Final = ("jest", "mocha", "ava", "vitest", "babel", "nyc")
_LOADS: Final = re.compile(
    r"--(?:require|import|loader|test-reporter|reporter|setup\w*|config|runner)\b|\s-r\s"
)
_PRODUCT: Final = re.compile(r"(?:src|lib|app|dist)/")


class LoadedFiles:
    """Answers for one workspace; settings are read when first asked for."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def role(self, path: str) -> str | None:
        """What a file is to a test run by what settings say of it; None when they do not name it."""
        stem, _, ending = path.rpartition(".")
        if ending in (*_ENDINGS, "jsx", "tsx"):
            named = rf"(?:\./|<rootDir>/|[\"'=\s]){re.escape(stem)}(?:\.{ending})?(?=[\"'\s,;]|$)"
            return "setup" if not _PRODUCT.match(path) and re.search(named, self._javascript) else None
        if ending == "py":
            dotted = re.escape(stem.replace("/", "."))
            named = rf"(?:-p[ =\"',]*|\bpytest_plugins\b[^\n]*[\"'])(?:{dotted})(?![\w.])"
            return "conftest" if re.search(named, self._python) else None
        return None

    @cached_property
    def _javascript(self) -> str:
        return "\n".join((*map(self._text, _JAVASCRIPT), self._package()))

    @cached_property
    def _python(self) -> str:
        return "\n".join(map(self._text, _PYTHON))

    def _package(self) -> str:
        """What package.json says of tests: the entries of the package itself are the product."""
        try:
            found: Any = json.loads(self._text("package.json") or "{}")
        except (ValueError, RecursionError):
            return ""
        if not isinstance(found, dict):
            return ""
        scripts = found.get("scripts")
        commands = scripts.values() if isinstance(scripts, dict) else ()
        said = [one for one in commands if isinstance(one, str) and _LOADS.search(one)]
        return "\n".join((json.dumps({key: found[key] for key in _TABLES if key in found}), *said))

    def _text(self, path: str) -> str:
        data = self._subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b""
        return data.decode("utf-8", "replace")
