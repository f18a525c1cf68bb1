"""The modules of its own project that a JavaScript file loads."""

from __future__ import annotations

from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of, parse_source
from adjudge.syntax.javascript.definitions import inside, node_text

__all__ = ["local_imports"]

_CALLS = ("require", "import", "jest.mock", "vi.mock", "jest.requireActual", "vi.importActual")


def local_imports(path: str, data: bytes) -> list[str]:
    """What the file at a path imports by a path that begins with a dot, as it is written."""
    grammar = grammar_of(path)
    if grammar is None or len(data) > MAX_SOURCE_BYTES:
        return []
    found: dict[str, None] = {}
    for node in inside(parse_source(grammar, data)):
        source = None
        if node.type in ("import_statement", "export_statement"):
            source = node.child_by_field_name("source")
        elif node.type == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is not None and arguments is not None and node_text(function) in _CALLS:
                source = next(iter(arguments.named_children), None)
        if source is not None and source.type == "string" and node_text(source)[1:2] == ".":
            found[node_text(source)[1:-1]] = None
    return list(found)
