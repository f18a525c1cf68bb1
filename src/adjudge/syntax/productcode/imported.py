"""Which files product code loads: whatever their names, they are product code, too."""

from __future__ import annotations

import posixpath
import re

__all__ = ["loads", "loads_package", "package_of"]

_JS_LOADED = re.compile(r"""(?:\bfrom\s*|\brequire\(\s*|\bimport\(?\s*)["'`](\.{1,2}/[^"'`\n]{1,200})["'`]""")


_PACKAGE = re.compile(r"(?:^|/)node_modules/((?:@[^/]+/)?[^/]+)/(?!.*node_modules/)")


def package_of(path: str) -> str | None:
    """The package that a file is of, where package managers of JavaScript put it."""
    found = _PACKAGE.search(path)
    return found[1] if found is not None else None


def loads_package(text: str, name: str) -> bool:
    """Whether the text of a JavaScript file loads a package, or a part of it."""
    return (
        re.search(
            rf"""(?:\bfrom\s*|\brequire\(\s*|\bimport\(?\s*)["'`]{re.escape(name)}(?:/[^"'`\n]*)?["'`]""",
            text,
        )
        is not None
    )


def loads(importer: str, text: str, path: str) -> bool:
    """Whether the text of one file loads another, as far as its names tell."""
    folder, _, name = path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    if ending == "py" and importer.endswith(".py"):
        return _loads_module(importer, text, folder, stem)
    if ending == "go" and importer.endswith(".go"):
        return bool(folder) and re.search(rf'"[\w./-]*/{re.escape(folder)}"', text) is not None
    if ending == "rb" and importer.endswith(".rb"):
        return (
            re.search(rf"""\brequire(?:_relative)?[ (]+["'][\w./-]*\b{re.escape(stem)}["']""", text)
            is not None
        )
    if re.fullmatch(r"[cm]?[jt]sx?", ending):
        here = posixpath.dirname(importer)
        wanted = {posixpath.join(folder, stem), path} | ({folder} if stem == "index" else set())
        found = (posixpath.normpath(posixpath.join(here, match[1])) for match in _JS_LOADED.finditer(text))
        return any(one in wanted or re.sub(r"\.[cm]?[jt]sx?$", "", one) in wanted for one in found)
    return False


def _loads_module(importer: str, text: str, folder: str, stem: str) -> bool:
    if stem == "__init__":
        folder, _, stem = folder.rpartition("/")
    parent, name = re.escape(folder.rpartition("/")[2]), re.escape(stem)
    beside = posixpath.dirname(importer) == folder
    patterns = [
        rf"^\s*(?:from|import)\s+[\w.]*\b{parent}\.{name}\b",
        rf"^\s*from\s+[\w.]*\b{parent}\s+import\s+[^\n]*\b{name}\b",
    ]
    if not folder:
        patterns = [rf"^\s*(?:from|import)\s+{name}\b"]
    if beside:
        patterns += [
            rf"^\s*from\s+\.{name}\s+import\b",
            rf"^\s*from\s+\.\s+import\s+[^\n]*\b{name}\b",
            rf"^\s*(?:from|import)\s+{name}\b",
        ]
    return any(re.search(pattern, text, re.M) for pattern in patterns)
