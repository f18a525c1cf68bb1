"""What pydantic finds, in plain sentences of ours.

Each kind of error has one sentence that says what was found and what was expected, in the words of the YAML
file: text, whole number, list, mapping. None of pydantic's own phrases reaches a reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["SENTENCES", "describe", "did_you_mean", "explain", "nearest", "unknown_key"]

_SHOWN = 60
"""How much of a value is repeated in a message."""


def describe(value: Any) -> str:
    """A value as a reader of the file would name it."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {_number(value)}"
        case str():
            shown = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 1]}…"
            return f"the text {shown!r}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
    return "something else"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one most likely means."""
    if len(name) > _SHOWN:
        return None
    # Imported here: 5 ms that only a misspelt name should pay.
    from difflib import get_close_matches  # noqa: PLC0415

    known = list(known)
    near = get_close_matches(name, known, n=1) or get_close_matches(name.lower(), known, n=1)
    return near[0] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known name as a question, or the known names when none is near."""
    known = list(known)
    near = nearest(name, known)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(known)}" if known else "none is known"


def unknown_key(key: str, known: Iterable[str]) -> str:
    """The sentence for a key that means nothing here."""
    shown = key if len(key) <= _SHOWN else f"{key[: _SHOWN - 1]}…"
    return f"unknown key {shown!r}; {did_you_mean(key, known)}"


def explain(error: Mapping[str, Any]) -> str:
    """The sentence for one error of `ValidationError.errors()`."""
    sentence = SENTENCES.get(error["type"])
    if sentence is None:
        # A validator of an extension may raise a type of its own, with a message of its own.
        return str(error["msg"])
    return sentence(error["input"], error.get("ctx") or {})


def _number(value: Any) -> str:
    """A number without a needless `.0`; anything else that could be compared, by its name."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return describe(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).replace("nan", ".nan").replace("inf", ".inf")


def _expected(what: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda value, _: f"{what} expected, found {describe(value)}"


def _text(value: Any, _: Mapping[str, Any]) -> str:
    if isinstance(value, (bool, int, float)):
        return f"text expected, found {describe(value)}; put it in quotes"
    return f"text expected, found {describe(value)}"


def _boolean(value: Any, _: Mapping[str, Any]) -> str:
    return f"write true or false; found {describe(value)}"


def _choice(value: Any, context: Mapping[str, Any]) -> str:
    choices = re.findall(r"'([^']*)'", str(context.get("expected", ""))) or [str(context.get("expected", ""))]
    if isinstance(value, str):
        near = nearest(value, choices)
        question = f"; did you mean {near!r}?" if near else ""
        return f"{value[:_SHOWN]!r} is not one of {', '.join(choices)}{question}"
    return f"one of {', '.join(choices)} expected, found {describe(value)}"


def _bound(word: str, key: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda value, context: f"{_number(value)} is {word} {_number(context.get(key))}"


def _short(what: str) -> Callable[[Any, Mapping[str, Any]], str]:
    def sentence(_: Any, context: Mapping[str, Any]) -> str:
        least = context.get("min_length")
        return "must not be empty" if least == 1 else f"needs at least {least} {what}"

    return sentence


def _long(what: str) -> Callable[[Any, Mapping[str, Any]], str]:
    def sentence(_: Any, context: Mapping[str, Any]) -> str:
        most = context.get("max_length")
        return f"has more than {most} {what if most != 1 else what.removesuffix('s')}"

    return sentence


def _pattern(value: Any, context: Mapping[str, Any]) -> str:
    if context.get("pattern") == r"\S":
        return "must not be empty"
    return f"{describe(value)} does not match the pattern {context.get('pattern')}"


def _raised(_: Any, context: Mapping[str, Any]) -> str:
    """A validator said it itself."""
    return str(context.get("error")) or "is not accepted"


def _says(sentence: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda _, __: sentence


def _with(template: str) -> Callable[[Any, Mapping[str, Any]], str]:
    def sentence(value: Any, context: Mapping[str, Any]) -> str:
        return template.format_map({"value": describe(value), **context})

    return sentence


_LIST = _expected("a list")
_MAPPING = _expected("a mapping")
_WHOLE = _expected("a whole number")
_REAL = _expected("a number")
_DATE = _expected("a date such as 2025-01-31")
_TIME = _expected("a time such as 09:30")
_MOMENT = _expected("a date and time such as 2025-01-31T09:30:00Z")
_DURATION = _expected("a duration such as PT15M")
_UNUSABLE = _with("{value} cannot be used here; this field takes nothing a file can hold")
_ARGUMENTS = _with("{value} does not fit the arguments expected here")

SENTENCES: Mapping[str, Callable[[Any, Mapping[str, Any]], str]] = {
    # presence and shape
    "missing": _says("missing"),
    "extra_forbidden": _says("unknown key"),
    "none_required": _with("must be left empty, found {value}"),
    "invalid_key": _says("keys are text; put the key in quotes"),
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dataclass_type": _MAPPING,
    "dataclass_exact_type": _MAPPING,
    "named_tuple_type": _expected("a list or a mapping"),
    "dict_type": _MAPPING,
    "frozen_dict_type": _MAPPING,
    "ordered_dict_type": _MAPPING,
    "counter_type": _MAPPING,
    "mapping_type": _MAPPING,
    "list_type": _LIST,
    "deque_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "iteration_error": _LIST,
    "set_item_not_hashable": _with("{value} cannot be an item of this list; use text or numbers"),
    "too_short": _short("items"),
    "too_long": _long("items"),
    "default_factory_not_called": _says("has no default until the fields before it are right"),
    "recursion_loop": _says("refers to itself"),
    "recursion_depth_exceeded": _says("nested too deeply"),
    # text
    "string_type": _text,
    "string_unicode": _says("text that is not valid Unicode"),
    "string_too_short": _short("characters"),
    "string_too_long": _long("characters"),
    "string_pattern_mismatch": _pattern,
    "string_not_ascii": _with("{value} has characters outside ASCII"),
    "bytes_type": _text,
    "bytes_too_short": _short("bytes"),
    "bytes_too_long": _long("bytes"),
    "bytes_invalid_encoding": _with("{value} is not valid {encoding}"),
    "enum": _choice,
    "literal_error": _choice,
    "url_type": _expected("an address such as https://example.org/x"),
    "url_parsing": _with("{value} is not an address: {error}"),
    "url_syntax_violation": _with("{value} is not an address: {error}"),
    "url_too_long": _long("characters"),
    "url_scheme": _with("{value} must start with {expected_schemes}"),
    "uuid_type": _expected("a UUID"),
    "uuid_parsing": _with("{value} is not a UUID: {error}"),
    "uuid_version": _with("{value} is not a UUID of version {expected_version}"),
    # booleans and numbers
    "bool_type": _boolean,
    "bool_parsing": _boolean,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _says("has too many digits"),
    "int_from_float": _WHOLE,
    "float_type": _REAL,
    "float_parsing": _REAL,
    "finite_number": lambda value, _: f"{_number(value)} is not a finite number",
    "greater_than": _bound("not above", "gt"),
    "greater_than_equal": _bound("below", "ge"),
    "less_than": _bound("not below", "lt"),
    "less_than_equal": _bound("above", "le"),
    "multiple_of": _bound("not a multiple of", "multiple_of"),
    "decimal_type": _REAL,
    "decimal_parsing": _REAL,
    "decimal_max_digits": _with("{value} has more than {max_digits} digits"),
    "decimal_max_places": _with("{value} has more than {decimal_places} decimals"),
    "decimal_whole_digits": _with("{value} has more than {whole_digits} digits before the point"),
    "fraction_type": _REAL,
    "fraction_parsing": _expected("a fraction such as 1/3"),
    "complex_type": _REAL,
    "complex_str_parsing": _REAL,
    # time
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _with("{value} has a time; only the date is wanted"),
    "date_past": _with("{value} is not in the past"),
    "date_future": _with("{value} is not in the future"),
    "time_type": _TIME,
    "time_parsing": _TIME,
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "datetime_past": _with("{value} is not in the past"),
    "datetime_future": _with("{value} is not in the future"),
    "timezone_naive": _with("{value} must not have a time zone"),
    "timezone_aware": _with("{value} needs a time zone"),
    "timezone_offset": _with("{value} is in another time zone than the one wanted"),
    "time_delta_type": _DURATION,
    "time_delta_parsing": _DURATION,
    # what validators of records and extensions raise
    "value_error": _raised,
    "assertion_error": _raised,
    "union_tag_invalid": _with("{tag!r} is not one of {expected_tags}"),
    "union_tag_not_found": _with("{discriminator} is missing"),
    # what only Python callers can meet, or an extension whose Config cannot be written in a file
    "no_such_attribute": _UNUSABLE,
    "get_attribute_error": _UNUSABLE,
    "json_invalid": _with("{value} is not valid JSON"),
    "json_type": _text,
    "needs_python_object": _UNUSABLE,
    "frozen_field": _UNUSABLE,
    "frozen_instance": _UNUSABLE,
    "missing_sentinel_error": _UNUSABLE,
    "ellipsis_error": _UNUSABLE,
    "is_instance_of": _UNUSABLE,
    "is_subclass_of": _UNUSABLE,
    "callable_type": _UNUSABLE,
    "arguments_type": _ARGUMENTS,
    "missing_argument": _ARGUMENTS,
    "unexpected_keyword_argument": _ARGUMENTS,
    "missing_keyword_only_argument": _ARGUMENTS,
    "unexpected_positional_argument": _ARGUMENTS,
    "missing_positional_only_argument": _ARGUMENTS,
    "multiple_argument_values": _ARGUMENTS,
}
"""pydantic's error type → a sentence from the value found and the error's context."""
