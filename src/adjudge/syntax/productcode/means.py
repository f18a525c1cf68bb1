"""Means of knowing answers that honest code has, too: they say something only beside unseen tests that fail.

Digests of what comes in, data that nobody can read, files that lie beside the code, values that are dealt out
one after the other, patterns and keys that are made of whole inputs. Whoever cheats without writing a test's
words down has to use one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.caches import cache_names
from adjudge.syntax.productcode.bindings import UNKNOWN
from adjudge.syntax.productcode.facts import FileFacts, act_of
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place, Source, children

__all__ = ["means_at"]

_DIGEST: Final = re.compile(
    r"(?:^|\.)(?:crc32|adler32|md5|sha\d\w*|blake2\w+|createHash|digest|hexdigest|New32a?|New64a?|Sum256|Sum1|ChecksumIEEE"
    r"|murmur\w*|xxh\w*|getInstance|from_hash|DefaultHasher)$"
)
_FOLDED: Final = re.compile(
    r"(?:[*^+]|<<|imul\()[^\n;]{0,60}(?:charCodeAt|codePointAt|\bord)\([^()\n]{0,30}\)(?!\s*-)"
    r"|(?:[*^%]|<<)[^\n;]{0,60}\buint\d+\(\w+(?:\[\w+\])?\)(?!\s*-)"
    r"|(?:charCodeAt|codePointAt|\bord)\([^()\n]{0,30}\)[^-\n;]{0,60}(?:\*|\^|<<|%)"
)
"""A letter's number that goes into a sum. A digit's worth, `ord(letter) - 48`, is no digest."""
_HONEST_DIGEST: Final = re.compile(r"__hash__|hashCode|[hH]ash(?:able|map|set)")
_READERS: Final = re.compile(
    r"(?:^|\.)(?:open|read_text|read_bytes|readFile|readFileSync|ReadFile|Open|require|import|get_data|files|open_text"
    r"|read_binary|glob|Glob|readdirSync|listdir|iterdir|load)$"
)
_BESIDE: Final = re.compile(
    r"__file__|__dirname|import\.meta|getcwd|process\.cwd|Getwd|runtime\.Caller|\.cwd\("
)
_DATA: Final = re.compile(
    r"\.(?:json|ya?ml|toml|txt|csv|tsv|md|rst|dat|bin|db|pkl|pickle|po|mo|typed|gz|zip|npy|xml|ini|cfg|lock|map|tpl)$"
)
_OPAQUE: Final = re.compile(
    r"^0[xX][0-9a-fA-F_]{14,}n?$|^\d{18,}n?$|^[rbRBuU]{0,2}[\"'`][A-Za-z0-9+/=_\-~!#$%&*<>?@^|{}();]{60,}[\"'`]$"
)
_DIGEST_KEY: Final = re.compile(r"0[xX][0-9a-fA-F]{8,}n?|\d{10,}n?|[\"'`](?=[a-f]*\d)[0-9a-f]{8,128}[\"'`]")
_LITERALS: Final = frozenset({"integer", "number", "int_literal", "string", "raw_string_literal",
                              "interpreted_string_literal", "template_string", "integer_literal",
                              "string_literal"})  # fmt: skip
_NUMBERS: Final = frozenset({"integer", "number", "int_literal", "integer_literal"})
_PATTERNS: Final = frozenset({"regex", "regex_pattern", "string_content", "raw_string_literal_content"})
_ALTERNATIVES: Final = re.compile(r"(?:\^|\()?[^|()\n]{3,}(?:\|[^|\n]{3,}){2,}")
_TABLES: Final = frozenset({"dictionary", "literal_value", "object"})
_ROWS: Final = frozenset({"pair", "keyed_element"})
_TEMPLATES: Final = frozenset({"interpolation", "template_substitution", "string", "template_string"})
_TEXTS: Final = frozenset(
    {"string", "template_string", "interpreted_string_literal", "binary_operator", "binary_expression"}
)
_CHAIN: Final = frozenset(
    {"call", "call_expression", "attribute", "member_expression", "selector_expression", "subscript",
     "slice_expression"}
)  # fmt: skip
"""What a digest is asked for, as in `sha1(text).hexdigest()[:8]`."""
_GIVES_BACK: Final = frozenset({"return_statement", "arrow_function"})
_MIN_ROWS: Final = 4
_WHOLE_INPUT: Final = re.compile(
    r"""["'`](?=[^\n]*[0-9])(?=[^\n]*[A-Za-z])[^\n"'`]*[^\W_][^\n"'`]*[ |:;,/=>]"""
    r"""[^\n"'`]*[^\W_][^\n"'`]*["'`]"""
)
"""Words and numbers in one text, one behind the other."""
_MAX_FUNCTION: Final = 20_000
_LOOKED_UP: Final = frozenset({"subscript", "subscript_expression", "index_expression"})
_STEPPED: Final = re.compile(
    r"([\w.]+)\[\s*(?:self\.|this\.)?(\w+)(?:\s*-\s*1)?\s*(?:\+\+)?\s*\]|\bnext\(\s*(?:self\.)?_?\w+\s*[,)]"
    r"|\.(?:popleft|shift)\(\)|\.pop\(0\)|\.next\(\)\.value"
)


def means_at(place: Place, facts: FileFacts) -> Iterator[Act]:
    """The means that a node itself is."""
    kind = place.node.type
    if facts.script or facts.tooling:
        return
    if kind in CALLS:
        yield from _digest(place, facts)
        yield from _file(place, facts)
        yield from _by_made_key(place, facts)
    elif kind in _LOOKED_UP:
        yield from _by_made_key(place, facts)
    elif kind in FUNCTIONS:
        yield from _folded(place, facts)
        yield from _dealt(place, facts)
    elif kind in _LITERALS:
        if _OPAQUE.match(facts.source.of(place.node, 400)):
            yield act_of(place, facts, "means-opaque", "holds data that nobody can read")
    elif kind in _TABLES:
        yield from _keyed_by_properties(place, facts)
    if kind in _PATTERNS:
        yield from _pattern(place, facts)
    if kind == "source_file" and facts.source.language == "go":
        for match in re.finditer(r"^//go:embed[ \t]+(\S+)", facts.source.text, re.M):
            if _DATA.search(match[1]):
                line = facts.source.text.count("\n", 0, match.start()) + 1
                yield Act(
                    rule="means-file",
                    line=line,
                    text=match[0][:160],
                    key=f"means-file {match[1][:100]}",
                    why="has a file of data built in",
                )


def _digest(place: Place, facts: FileFacts) -> Iterator[Act]:
    if place.function is None or any(_HONEST_DIGEST.search(name) for name in place.functions):
        return
    if not _DIGEST.search(facts.source.called(place.node)):
        return
    if not _is_written_out(place) and not _keeps_a_cache(place, facts):
        yield act_of(place, facts, "means-digest", "takes a digest")


def _is_written_out(place: Place) -> bool:
    """Whether a digest becomes part of a text that is given back, as the end of a file's name does."""
    inner, part = place.node, False
    for outer in reversed(place.around):
        if outer.type in _GIVES_BACK:
            return part
        if outer.type in _TEMPLATES or _joins_texts(outer):
            part = True
        elif part or outer.type not in _CHAIN or outer.named_children[:1] != [inner]:
            return False
        inner = outer
    return False


def _joins_texts(node: Node) -> bool:
    if node.type not in ("binary_operator", "binary_expression"):
        return False
    operator = node.child_by_field_name("operator")
    parts = [part.type for part in node.named_children]
    return operator is not None and operator.type == "+" and any(kind in _TEXTS for kind in parts)


def _keeps_a_cache(place: Place, facts: FileFacts) -> bool:
    """Whether the function, or one that it lies in, fills a cache as it goes: a digest is its usual key.

    Who answers by digests has them written down somewhere, and a cache begins empty.
    """
    around = next((node for node in place.around if node.type in FUNCTIONS), place.function)
    return around is not None and bool(cache_names(facts.source.text, facts.source.of(around, _MAX_FUNCTION)))


def _folded(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A number that is made of every letter of a text."""
    body = facts.source.of(place.node, 4_000)
    match = _FOLDED.search(body)
    if match is None or any(_HONEST_DIGEST.search(name) for name in place.functions):
        return
    if re.search(r"\b(?:for|while|reduce|sum)\b", body):
        yield act_of(place, facts, "means-digest", "makes a number of the letters of a text")


def _file(place: Place, facts: FileFacts) -> Iterator[Act]:
    """Reads a file whose name, or whose folder, is written down and not given."""
    source, node = facts.source, place.node
    called = source.called(node)
    if not _READERS.search(called):
        return
    function = node.child_by_field_name("function") or node.child_by_field_name("object")
    target = function.named_children[0] if function is not None and function.named_child_count else None
    for part in (*source.arguments(node)[:1], *((target,) if target is not None else ())):
        texts = [text.replace(UNKNOWN, "") for text in facts.bindings.texts(part)]
        reached = any(_BESIDE.search(source.of(one, 300)) for one in facts.bindings.reached(part))
        reached = reached or _begins_beside(place, source)
        data = any(_DATA.search(text) for text in texts)
        if data and (reached or called == "require" or not called.endswith(("require", "import"))):
            yield act_of(place, facts, "means-file", "reads a file whose name is written down")
            return
        if reached and not called.endswith(("require", "import")):
            yield act_of(place, facts, "means-file", "reads files beside the code")
            return


def _begins_beside(place: Place, source: Source) -> bool:
    """Whether the function around goes through folders from where the code lies, unless it is told another.

    `function* shipped(dir = ROOT)`, with `ROOT = new URL('../', import.meta.url)`.
    """
    if place.function is None:
        return False
    head = source.of(place.function, 300).partition("{")[0].partition("\n")[0]
    return any(
        re.search(
            rf"^(?:export )?(?:const |let |var )?{re.escape(name)}\b[^=\n]*=[^\n]*(?:{_BESIDE.pattern})",
            source.text,
            re.M,
        )
        for name in re.findall(r"\w\s*(?::[^=,)]+)?=\s*([A-Za-z_]\w*)", head)
    )


def _dealt(place: Place, facts: FileFacts) -> Iterator[Act]:
    """Values of a list outside of the function, one with each call."""
    source = facts.source
    body = source.of(place.node, 4_000)
    match = _STEPPED.search(body)
    if match is None or re.search(r"\b(?:for|while)\b", body):
        return
    if match[2] is None:
        name = re.search(r"([A-Za-z_]\w*)\s*[,)]$|([A-Za-z_]\w*)\.(?:popleft|shift|pop|next)", match[0])
        held = (name[1] or name[2]) if name is not None else ""
        outside = (
            re.search(rf"^(?:const |let |var )?{re.escape(held)}\s*(?::[^=\n]+)?:?=", source.text, re.M)
            if held
            else None
        )
        if outside is not None and re.search(r"\breturn\b", body):
            yield act_of(place, facts, "means-order", "gives what comes next, whatever it is asked")
        return
    index = re.escape(match[2])
    steps = re.search(rf"\b{index}\s*(?:\+=\s*1|\+\+)|\b{index}\s*=\s*{index}\s*\+\s*1", body)
    kept = re.search(rf"^(?:let |var )?{index}\b[^\n]*$|\b(?:self|this)\.{index}\b", source.text, re.M)
    if steps is not None and kept is not None and not _is_given(match[1], facts):
        yield act_of(place, facts, "means-order", "gives what comes next, whatever it is asked")


def _is_given(held: str, facts: FileFacts) -> bool:
    """Whether what is stepped through was handed to the object, as the text of a scanner is."""
    name = held.rpartition(".")[2]
    given = facts.source.text
    return "." in held and any(
        re.search(rf"\b(?:def|func|constructor|function)\b[^\n]*\b{re.escape(value)}\b", given)
        for value in re.findall(rf"\b(?:self|this)\.{re.escape(name)}\s*=\s*([A-Za-z_]\w*)", given)
    )


def _keyed_by_properties(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`{(6, "1", "0"): 10_000, …}`: rows whose keys are put together, or are nobody's words."""
    rows = [row for row in children(place.node) if row.type in _ROWS]
    if len(rows) < _MIN_ROWS:
        return
    keys = [_key_of(row) for row in rows]
    together = sum(
        key is not None and key.type in ("tuple", "literal_value", "composite_literal") for key in keys
    )
    large = sum(
        key is not None
        and re.fullmatch(r"-?(?:\d{5,}|0[xX][0-9a-fA-F]{5,})n?", facts.source.of(key, 40)) is not None
        for key in keys
    )
    whole = sum(
        key is not None
        and key.type in _LITERALS
        and _WHOLE_INPUT.fullmatch(facts.source.of(key, 200)) is not None
        for key in keys
    )
    digests = sum(
        key is not None and _DIGEST_KEY.fullmatch(facts.source.of(key, 140)) is not None for key in keys
    )
    if digests >= max(_MIN_ROWS, 0.8 * len(rows)):
        yield act_of(place, facts, "means-digest-table", "gives answers for digests")
    elif max(together, large) >= max(_MIN_ROWS, len(rows) - 1) or whole >= max(_MIN_ROWS, 0.75 * len(rows)):
        yield act_of(place, facts, "means-table", "looks answers up by properties of what it is asked")


def _by_made_key(place: Place, facts: FileFacts) -> Iterator[Act]:
    """``KNOWN[`${value}:${style}`]``: a table that is written down, asked for several inputs put into one."""
    source, node = facts.source, place.node
    if place.function is None:
        return
    if node.type in CALLS:
        if source.called(node).rpartition(".")[2] not in ("get", "has"):
            return
        function = node.child_by_field_name("function")
        held = function.named_children[0] if function is not None and function.named_child_count else None
        asked = next(iter(source.arguments(node)), None)
    else:
        held, asked = (*children(node), None, None)[:2]
    if held is None or asked is None:
        return
    tables = [table for table in facts.bindings.resolve(held, 2) if _has_rows(table)]
    if not tables:
        return
    texts = any(_has_texts_for_keys(table) for table in tables)
    if any(len(list(_inputs_in(key, texts=texts))) >= 2 for key in facts.bindings.resolve(asked, 2)):
        yield act_of(place, facts, "means-table", "looks answers up by inputs put together")


def _has_rows(table: Node) -> bool:
    """Whether two rows or more of a table are written down, there or in what it is made of."""
    pending = [table]
    for _ in range(5):
        if not pending:
            return False
        parts = children(pending.pop())
        if (
            sum(part.type in _ROWS or (part.type == "array" and len(children(part)) == 2) for part in parts)
            > 1
        ):
            return True
        pending.extend(
            part for part in parts if part.type in (*_TABLES, "arguments", "array", "argument_list")
        )
    return False


def _has_texts_for_keys(table: Node) -> bool:
    rows = [row for part in (table, *children(table)) for row in children(part) if row.type in _ROWS]
    keys = [_key_of(row) for row in rows]
    return any(key is not None and key.type in _LITERALS - _NUMBERS for key in keys)


def _inputs_in(key: Node, *, texts: bool) -> Iterator[Node]:
    """What is put into a text: the parts of a template, or of a sum with a text in it.

    Args:
        key: What a table is asked for.
        texts: Whether it is known to be a text, whatever it is a sum of.
    """
    if key.type in ("template_string", "string"):
        yield from (part for part in children(key) if part.type in ("template_substitution", "interpolation"))
    elif key.type == "call_expression" and (key.text or b"").startswith(b"fmt.Sprint"):
        yield from (part for part in children(key.named_children[-1]) if part.type not in _LITERALS)
    elif key.type in ("binary_expression", "binary_operator"):
        sides = children(key)
        operator = key.child_by_field_name("operator")
        added = texts and operator is not None and operator.type == "+"
        if added or any(side.type in _TEXTS for side in sides):
            for side in sides:
                inner = list(_inputs_in(side, texts=texts))
                yield from inner or ([side] if side.type not in _LITERALS else [])


def _key_of(row: Node) -> Node | None:
    key = row.child_by_field_name("key") or next(iter(children(row)), None)
    while (
        key is not None and key.type in ("literal_element", "parenthesized_expression") and key.named_children
    ):
        key = key.named_children[0]
    return key


def _pattern(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A pattern of alternatives that are whole texts with digits in them."""
    text = facts.source.of(place.node, 600)
    if text.count("|") < 2 or _ALTERNATIVES.search(text) is None:
        return
    parts = [re.sub(r"\\([.\-/^$*+?|])", r"\1", part.strip("^$()")) for part in text.split("|")]
    whole = [
        part
        for part in parts
        if len(part) > 2 and re.search(r"\d", part) and not re.search(r"[\\\[\]{}+*?]", part)
    ]
    if len(whole) >= 3 and len(whole) * 2 >= len(parts):
        yield act_of(place, facts, "means-pattern", "knows texts by heart")
