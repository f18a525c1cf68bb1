"""Rubric files and score files as they are written, with every problem in its place. Pure.

What they amount to is `adjudge.rollup.rubric`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import Field

from adjudge.errors import ConfigInvalid, ScenarioInvalid
from adjudge.formats.jsontext import TextRefused, parse_json
from adjudge.formats.tasks.checking import Findings, check, entries
from adjudge.formats.tasks.document import Node, parse_document
from adjudge.records.base import Record
from adjudge.records.score import Rollup

__all__ = ["WrittenDimension", "WrittenRubric", "parse_rubric", "parse_scores"]

_MAX_BYTES = 1024 * 1024


class _Top(Record):
    strategy: Rollup = Rollup.WEIGHTED_MEAN
    dimensions: dict[str, object] = Field(min_length=1)


class WrittenDimension(Record):
    """A dimension of a rubric file."""

    weight: float = Field(default=1.0, ge=0.0)
    """How much it counts."""
    max_score: float = Field(default=1.0, gt=0.0)
    """The score that is full marks."""
    description: str | None = None
    """What it measures; for readers."""


class WrittenRubric(NamedTuple):
    """A rubric file."""

    strategy: str
    dimensions: dict[str, WrittenDimension]


def parse_rubric(data: bytes, *, file: str) -> WrittenRubric:
    """Read a rubric.

    Raises:
        ScenarioInvalid: Something is wrong with it; it carries every problem, with line and column.
    """
    document = parse_document(data, file=file, holding="rubric", needs="a rubric needs 'dimensions'")
    findings = Findings(file, problems=document.problems)
    rubric = _rubric(document.root, findings) if document.root is not None else None
    if rubric is None or findings.problems:
        raise ScenarioInvalid(findings.problems)
    return rubric


def _rubric(root: Node, findings: Findings) -> WrittenRubric | None:
    fields = entries(root, "", findings)
    if fields is None:
        return None
    written = fields.get("dimensions")
    named = _named(written, findings) if written is not None else None
    shallow = {key: node for key, node in fields.items() if key != "dimensions"}
    if written is not None:
        shallow["dimensions"] = Node({"…": Node(0, 1, 1)} if named != {} else {}, *_place(written))
    top = check(_Top, root, "", findings, fields=shallow)
    dimensions: dict[str, WrittenDimension] = {}
    for name, node in (named or {}).items():
        if not name.strip():
            findings.problem(node, "dimensions", "a dimension needs a name")
        # `units:` with nothing behind it is a dimension with every default.
        given = Node({}, node.line, node.column) if node.value is None else node
        read = check(WrittenDimension, given, f"dimensions.{name}", findings)
        if read is not None:
            dimensions[name] = read
    if top is None or findings.problems:
        return None
    if not any(dimension.weight > 0.0 for dimension in dimensions.values()):
        findings.problem(written or root, "dimensions", "every weight is 0, so nothing would count")
        return None
    return WrittenRubric(top.strategy.value, dimensions)


def _named(written: Node, findings: Findings) -> Mapping[str, Node] | None:
    """The dimensions by name: a mapping, or a list of mappings that have their names in them."""
    if not isinstance(written.value, list):
        return entries(written, "dimensions", findings)
    named: dict[str, Node] = {}
    for at, item in enumerate(written.value):
        where = f"dimensions[{at}]"
        fields = entries(item, where, findings)
        if fields is None:
            continue
        name = fields["name"].value if "name" in fields else None
        if not isinstance(name, str):
            findings.problem(item, where, "a dimension needs a name")
        elif name in named:
            findings.problem(item, where, f"dimension {name!r} is already on line {named[name].line}")
        else:
            rest = {key: node for key, node in fields.items() if key != "name"}
            named[name] = Node(rest, *_place(item))
    return named


def _place(node: Node) -> tuple[int, int]:
    return node.line, node.column


def parse_scores(
    data: bytes, *, file: str, rubric: WrittenRubric | None = None
) -> dict[str, float | tuple[float, str]]:
    """Read scores: an object from dimension to a number, or to an object with `score` and `evidence`.

    Such an object may repeat the `max_score` of its dimension, as the details of a reward do.

    Args:
        data: The file's content.
        file: What to call it in messages.
        rubric: Whose dimensions are scored.

    Raises:
        ConfigInvalid: It is not that.
    """
    if len(data) > _MAX_BYTES:
        raise ConfigInvalid(f"{file}: more than {_MAX_BYTES:,} bytes")
    try:
        value = parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{file}: not UTF-8: byte {error.start} cannot be read") from None
    except TextRefused as error:
        raise ConfigInvalid(f"{file}: {error}") from None
    if not isinstance(value, dict):
        raise ConfigInvalid(f"{file}: an object from dimension to score expected")
    scores: dict[str, float | tuple[float, str]] = {}
    for name, given in value.items():
        if isinstance(given, dict):
            unknown = [key for key in given if key not in ("score", "max_score", "evidence")]
            if unknown:
                known = "score, max_score and evidence are"
                raise ConfigInvalid(f"{file}: {name}: unknown key {unknown[0][:60]!r}; {known} known")
            if "score" not in given:
                raise ConfigInvalid(f"{file}: {name}: score is missing")
            full = rubric.dimensions.get(name) if rubric is not None else None
            if "max_score" in given and full is not None and given["max_score"] != full.max_score:
                said = f"max_score is {full.max_score:g} in the rubric"
                raise ConfigInvalid(f"{file}: {name}: {said}, and {str(given['max_score'])[:60]} here")
            scores[name] = (given["score"], given.get("evidence", ""))
        else:
            scores[name] = given
    return scores
