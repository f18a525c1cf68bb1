"""JSON Schema for outputs: offline, and in time that grows with the output and nothing else.

The schema is a task author's, the values are an attempt's. So patterns are RE2's, references stay inside the
schema, and a list is looked through for equal items once instead of pair by pair. `jsonschema` does the rest;
it is loaded when a schema is first used (some 100 ms).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo

from adjudge.formats.jsontext import MAX_DEPTH, parse_json
from adjudge.formats.regex import check_regex, find_regex
from adjudge.records.paths import ScenarioFile

__all__ = ["OutputSchema", "SchemaFile", "parse_schema"]

_DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
}
_DEFAULT_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_MAX_CHECKED = 100_000
"""Values of an output. Under `anyOf` each may leave an error of some kilobytes behind."""
_MAX_ERRORS = 20
_DATA = ("enum", "const", "default", "examples")
"""Keywords whose values are data, whatever they look like."""
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
"""Keywords that hold schemas by names, which are no keywords themselves."""


class OutputSchema:
    """A schema that was found to be usable.

    Args:
        document: The schema.

    Raises:
        ValueError: It is none, or asks for what is not offered; the message starts with the place in it.
    """

    def __init__(self, document: Mapping[str, Any] | bool) -> None:
        if not isinstance(document, Mapping | bool):
            raise ValueError("a schema is an object, or true or false")
        self.document = document
        self._validator = _make_validator(document)

    def errors(self, value: Any) -> list[str]:
        """What is wrong with a value, each with its path; empty when it has the expected shape."""
        if _counts_more_than(value, _MAX_CHECKED):
            return [f"more than {_MAX_CHECKED:,} values; it was not checked against its schema"]
        try:
            found = list(islice(self._validator.iter_errors(value), _MAX_ERRORS))
        except RecursionError:
            return ["nested too deeply to be checked against its schema"]
        except ArithmeticError as error:
            return [f"a number is too large to be checked: {error}"]
        return [f"{_path(error.absolute_path)}: {_said(error)}" for error in found]


def parse_schema(data: bytes) -> OutputSchema:
    """Read a schema from a JSON file.

    Raises:
        ValueError: It is no JSON, or no schema that can be used.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: byte {error.start} cannot be read") from None
    return OutputSchema(parse_json(text))


def _check_file(path: str, info: ValidationInfo) -> str:
    """Read the schema while the scenario is, where there is a folder to read it from."""
    read = getattr((info.context or {}).get("scenario_file"), "text", None)
    if read is not None:
        try:
            parse_schema(read(path).encode())
        except ValueError as error:
            raise ValueError(f"{path!r} is not a JSON Schema that can be used: {error}") from None
    return path


SchemaFile = Annotated[ScenarioFile, AfterValidator(_check_file)]
"""A JSON Schema of the scenario in a scorer's `Config`, refused when it cannot be used."""


def _make_validator(document: Mapping[str, Any] | bool) -> Any:
    library = importlib.import_module("jsonschema")
    asked = document.get("$schema", _DEFAULT_DRAFT) if isinstance(document, Mapping) else _DEFAULT_DRAFT
    draft = asked.rstrip("#") if isinstance(asked, str) else ""
    if draft not in _DRAFTS:
        raise ValueError(f"$schema: {str(asked)[:100]!r} is not a known draft; one of {', '.join(_DRAFTS)}")
    base = getattr(library, _DRAFTS[draft])
    try:
        base.check_schema(document)
    except library.SchemaError as error:
        raise ValueError(f"{_path(error.absolute_path)}: {_said(error)}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if isinstance(document, Mapping):
        # With its draft written in it, a schema that refers to itself would be handed to the library's own
        # class, and with it to Python's regular expressions.
        document = {key: item for key, item in document.items() if key not in ("$schema", "$id")}
        _refuse_unsafe(document, draft)
    made = library.validators.extend(
        base,
        {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "uniqueItems": _unique_items,
        },
    )
    # A registry of its own knows nothing but the schema itself, and has no way to the network.
    validator = made(document, registry=importlib.import_module("referencing").Registry())
    _probe(validator)
    return validator


def _refuse_unsafe(document: Mapping[str, Any], draft: str) -> None:
    """Refuse, wherever they stand, references that lead elsewhere and patterns that cannot be matched."""
    referencing = importlib.import_module("referencing")
    specification = importlib.import_module("referencing.jsonschema").specification_with(draft)
    registry = referencing.Registry().with_resource("", referencing.Resource(document, specification))
    resolver = registry.resolver()
    keywords: set[str] = set()
    for where, schema in _schemas(document, "", 0):
        keywords.update(schema)
        for key in ("$schema", "$id", "id"):
            if isinstance(schema.get(key), str):
                raise ValueError(f"{_in(where, key)}: only the whole schema has one")
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(key)
            if not isinstance(reference, str):
                continue
            if not reference.startswith("#"):
                raise ValueError(
                    f"{_in(where, key)}: {reference[:100]!r} leads out of the schema; write it under $defs"
                )
            try:
                resolver.lookup(reference)
            except referencing.exceptions.Unresolvable:
                raise ValueError(f"{_in(where, key)}: {reference[:100]!r} leads nowhere") from None
        if isinstance(schema.get("pattern"), str):
            _check_pattern(schema["pattern"], _in(where, "pattern"))
        for pattern in schema.get("patternProperties", ()):
            _check_pattern(pattern, _in(where, "patternProperties"))
    if {"unevaluatedProperties", "patternProperties"} <= keywords:
        raise ValueError("unevaluatedProperties beside patternProperties is not offered; write one of them")


def _schemas(node: Any, where: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A schema and every schema in it. What is under an unknown keyword may be referred to, so it counts."""
    if depth > 4 * MAX_DEPTH:
        raise ValueError(f"{where[:100]}: nested too deeply")
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _schemas(item, f"{where}[{index}]", depth + 1)
    if not isinstance(node, Mapping):
        return
    yield where, node
    for key, item in node.items():
        if key in _BY_NAME and isinstance(item, Mapping):
            for name, schema in item.items():
                yield from _schemas(schema, _in(_in(where, key), name), depth + 1)
        elif key not in _DATA:
            yield from _schemas(item, _in(where, key), depth + 1)


def _in(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _check_pattern(pattern: str, where: str) -> None:
    try:
        check_regex(pattern)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _probe(validator: Any) -> None:
    """Try values of each type: a schema that refers to itself without end shows with the first."""
    values: tuple[Any, ...] = ({}, [], "", 0, None, True)
    try:
        for value in values:
            for _ in islice(validator.iter_errors(value), _MAX_ERRORS):
                pass
    except RecursionError:
        raise ValueError("the schema refers to itself without end") from None


def _matches(pattern: str, text: str) -> bool:
    try:
        # Checked once more: a reference can make a schema of what looked like data.
        return find_regex(check_regex(pattern), text) is not None
    except ValueError:
        return False


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield _error(f"{instance[:60]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    extra = [
        key
        for key in instance
        if key not in known and not any(_matches(pattern, key) for pattern in patterns)
    ]
    if allowed is False and extra:
        shown = ", ".join(repr(key[:60]) for key in extra[:5])
        yield _error(f"unexpected {shown}{', …' if len(extra) > 5 else ''}")
    elif isinstance(allowed, dict):
        for key in extra:
            yield from validator.descend(instance[key], allowed, path=key)


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if unique is not True or not isinstance(instance, list):
        return
    seen: dict[Any, int] = {}
    for index, item in enumerate(instance):
        first = seen.setdefault(_hashable(item), index)
        if first != index:
            yield _error(f"item {index} equals item {first}")
            return


def _hashable(value: Any) -> Any:
    """Equal for equal JSON values and for no others; 1 and 1.0 are equal, true is neither."""
    if isinstance(value, dict):
        return ("object", frozenset((key, _hashable(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(_hashable, value)))
    return (isinstance(value, bool), value)


def _error(message: str) -> Any:
    return importlib.import_module("jsonschema").ValidationError(message)


def _counts_more_than(value: Any, limit: int) -> bool:
    pending, seen = [value], 0
    while pending:
        item = pending.pop()
        seen += 1
        if isinstance(item, dict | list):
            if seen + len(pending) + len(item) > limit:
                return True
            pending.extend(item.values() if isinstance(item, dict) else item)
    return False


def _path(parts: Any) -> str:
    """The path of a value, such as `loads[2].current`."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the whole"


def _said(error: Any) -> str:
    """The library's message, whose quote of the value can be as long as the value."""
    message = str(error.message)
    return message if len(message) <= 200 else f"{message[:120]} … {message[-79:]}"
