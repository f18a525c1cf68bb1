"""A recipe as the rows of a form, and back: a row that comes back as it was sent changes nothing.

A form knows only text. What is not touched keeps the very value that is written in the file; what is touched
is read by the kind of its field, and what cannot be read so is handed on as text, for the validator to refuse
in the words of the command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge import catalog
from adjudge.errors import AdjudgeError
from adjudge.formats.tasks.checking import other_names
from adjudge.formats.tasks.editing import EditedLine, NotEditable, RecipeLine, dump_value, parse_value
from adjudge.formats.tasks.presets import PRESETS
from adjudge.formats.tasks.recipe import load_scorer
from adjudge.formats.tasks.scorerdocs import FieldDocs, FieldKind, ScorerDocs, describe_scorer
from adjudge.web.rendering import plain_text

__all__ = ["FormField", "FormRow", "fresh_line", "parse_rows", "rows_of", "types"]

_PRESET = "preset:"
_FLAGS = ("name", "type", "required", "weight", "gate", "preset")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a scorer, as it is shown."""

    docs: FieldDocs
    key: str
    """How it is written: its name, or another spelling of it."""
    shown: str
    """The value as text; empty when nothing is written."""

    @property
    def default(self) -> str:
        """What holds when nothing is written."""
        return (
            ""
            if self.docs.required or self.docs.default in (None, [], {})
            else _shown(self.docs.default, self.docs)
        )


@dataclass(frozen=True, slots=True)
class FormRow:
    """A scorer, as it is shown."""

    key: str
    origin: int | None
    type: str
    """A scorer's type, or `preset:` and its name."""
    name: str
    required: bool
    weight: str
    gate: bool
    fields: tuple[FormField, ...]
    docs: ScorerDocs | None
    """None for a preset, and for a type that nobody provides."""
    others: tuple[str, ...] = ()
    """What is written beside, and is kept as it is."""


def types() -> list[str]:
    """What a row can be, presets last."""
    return [*catalog.names("scorers"), *(f"{_PRESET}{name}" for name in PRESETS)]


def fresh_line(kind: str) -> EditedLine:
    """A line of a type, with nothing filled in."""
    if kind.startswith(_PRESET):
        return EditedLine({"preset": kind.removeprefix(_PRESET)})
    return EditedLine({"type": kind or "command"})


def rows_of(lines: Sequence[EditedLine], dialect: str) -> list[FormRow]:
    """Lines as rows."""
    return [_row(str(number), line, dialect) for number, line in enumerate(lines)]


def parse_rows(
    form: Iterable[tuple[str, str]], written: Sequence[RecipeLine], dialect: str
) -> list[EditedLine]:
    """The lines that a form asks for, in its order.

    Args:
        form: Names and values: `row` once for each row with its key, then `<key>.type` and so on.
        written: The lines of the text that the rows were made from.
        dialect: `scorers` or `graders`.
    """
    items = list(form)
    values = dict(items)
    return [_line(key, values, written, dialect) for name, key in items if name == "row"]


def _row(key: str, line: EditedLine, dialect: str) -> FormRow:
    values = line.values
    kind = _type_of(values)
    docs, fields = _describe(kind)
    spelled = _spellings(kind)
    shown = []
    for field in fields:
        written = next((name for name in (field.name, *spelled.get(field.name, ())) if name in values), None)
        text = "" if written is None else _shown(values[written], field)
        shown.append(FormField(field, written or field.name, text))
    known = {*_FLAGS, *(field.key for field in shown)}
    return FormRow(
        key=key,
        origin=line.origin,
        type=kind,
        name=_text(values.get("name", "")),
        required=values["required"] is True if "required" in values else _default_required(docs, dialect),
        weight=_text(values.get("weight", "")),
        gate=values.get("gate") is True,
        fields=tuple(shown),
        docs=docs,
        others=tuple(name for name in values if name not in known),
    )


def _line(key: str, form: Mapping[str, str], written: Sequence[RecipeLine], dialect: str) -> EditedLine:
    origin = (
        int(form[f"{key}.origin"]) if re.fullmatch(r"[0-9]{1,4}", form.get(f"{key}.origin", "")) else None
    )
    if origin is not None and origin >= len(written):
        origin = None
    old = dict(written[origin].values) if origin is not None else {}
    kind = form.get(f"{key}.type", "")
    if kind.startswith(_PRESET):
        values: dict[str, Any] = {"preset": kind.removeprefix(_PRESET)}
        if form.get(f"{key}.required") == "on":
            values["required"] = True
        elif "required" in old and _type_of(old) == kind:
            values["required"] = False
        return EditedLine(values, origin)
    same_type = _type_of(old) == kind
    before = _row(key, EditedLine(old, origin), dialect) if old else None
    docs, fields = _describe(kind)
    values = {"type": kind}
    put = _Put(values, old)
    name = form.get(f"{key}.name", "").strip()
    put("name", name, unchanged=before is not None and name == before.name, there=bool(name))
    required = form.get(f"{key}.required") == "on"
    by_default = required == _default_required(docs, dialect)
    put("required", required, unchanged=isinstance(old.get("required"), bool) and old["required"] == required,
        there=not by_default or ("required" in old and same_type))  # fmt: skip
    weight = form.get(f"{key}.weight", "").strip()
    put("weight", _parsed(weight, FieldKind.NUMBER), unchanged=before is not None and weight == before.weight,
        there=bool(weight))  # fmt: skip
    gate = form.get(f"{key}.gate") == "on"
    put("gate", gate, unchanged=old.get("gate") is gate, there=gate or "gate" in old)
    spelled = _spellings(kind)
    for field in fields:
        text = form.get(f"{key}.field.{field.name}", "").replace("\r\n", "\n")
        names = (field.name, *spelled.get(field.name, ()))
        spelling = next((one for one in names if same_type and one in old), field.name)
        unchanged = spelling in old and text.strip() == _shown(old[spelling], field).strip()
        put(spelling, _parsed(text, field.kind), unchanged=unchanged, there=bool(text.strip()))
    if same_type and before is not None:
        values |= {name: old[name] for name in before.others}
        values = {
            name: values[name]
            for name in [*(n for n in old if n in values), *(n for n in values if n not in old)]
        }
    return EditedLine(values, origin)


class _Put:
    """Sets a value: the very one that is written where it was not touched."""

    def __init__(self, values: dict[str, Any], old: Mapping[str, Any]) -> None:
        self._values = values
        self._old = old

    def __call__(self, name: str, value: Any, *, unchanged: bool, there: bool) -> None:
        if unchanged and name in self._old:
            self._values[name] = self._old[name]
        elif there:
            self._values[name] = value


def _type_of(values: Mapping[str, Any]) -> str:
    if "preset" in values:
        return f"{_PRESET}{values['preset']}"
    return str(values.get("type", ""))


def _describe(kind: str) -> tuple[ScorerDocs | None, tuple[FieldDocs, ...]]:
    if not kind or kind.startswith(_PRESET):
        return None, ()
    try:
        docs = describe_scorer(kind)
    except AdjudgeError:
        return None, ()
    return docs, docs.fields


def _spellings(kind: str) -> dict[str, list[str]]:
    """Field → its other spellings."""
    if not kind or kind.startswith(_PRESET):
        return {}
    try:
        config = load_scorer(kind).Config
    except AdjudgeError:
        return {}
    found: dict[str, list[str]] = {}
    for other, name in other_names(config).items():
        found.setdefault(name, []).append(other)
    return found


def _default_required(docs: ScorerDocs | None, dialect: str) -> bool:
    return dialect == "scorers" and docs is not None and docs.required_by_default


def _shown(value: Any, field: FieldDocs) -> str:
    if field.kind is FieldKind.TEXTS and isinstance(value, list) and all(map(_one_line, value)):
        return plain_text("\n".join(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and field.kind is not FieldKind.ANY:
        return plain_text(value)
    if isinstance(value, int | float):
        return _text(value)
    return plain_text(dump_value(value))


def _one_line(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value and value == value.strip()


def _text(value: Any) -> str:
    if isinstance(value, float) and value == int(value) and abs(value) < 10**15:
        return str(int(value))
    return plain_text(str(value))


def _parsed(text: str, kind: FieldKind) -> Any:
    """What a text means in a field of that kind; the text itself where it means nothing there."""
    return _PARSERS[kind](text)


def _parse_any(text: str) -> Any:
    try:
        return parse_value(text)
    except NotEditable:
        return text


def _parse_texts(text: str) -> Any:
    return [row.strip() for row in text.splitlines() if row.strip()]


def _parse_text(text: str) -> Any:
    # A line end that a box adds to a single line is nobody's wish; a text of several lines ends with one.
    return text.rstrip("\n") + "\n" if "\n" in text.rstrip("\n") else text.strip("\n")


def _parse_integer(text: str) -> Any:
    return int(text) if _INTEGER.fullmatch(text.strip()) else text


def _parse_number(text: str) -> Any:
    given = text.strip()
    if _INTEGER.fullmatch(given):
        return int(given)
    return float(given) if _NUMBER.fullmatch(given) else text


def _parse_switch(text: str) -> Any:
    return {"true": True, "false": False}.get(text.strip(), text)


_PARSERS: Mapping[FieldKind, Callable[[str], Any]] = {
    FieldKind.TEXT: _parse_text,
    FieldKind.TEXTS: _parse_texts,
    FieldKind.INTEGER: _parse_integer,
    FieldKind.NUMBER: _parse_number,
    FieldKind.SWITCH: _parse_switch,
    FieldKind.CHOICE: str.strip,
    FieldKind.ANY: _parse_any,
}
