"""From the bytes of a file to what it does and answers, or, for a test file, to its examples."""

from __future__ import annotations

from typing import Final

from adjudge.records.productcode import Act, Answer, ExampleOutline, ProductOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of, parse_source
from adjudge.syntax.productcode.acts import acts_at
from adjudge.syntax.productcode.answers import answers_at
from adjudge.syntax.productcode.choices import choices_at
from adjudge.syntax.productcode.clues import clues_at, digest_clues
from adjudge.syntax.productcode.examples import read_examples
from adjudge.syntax.productcode.facts import FileFacts
from adjudge.syntax.productcode.looks import looks_at
from adjudge.syntax.productcode.means import means_at
from adjudge.syntax.productcode.reading import LineRanges, Source, places
from adjudge.syntax.testcode.nodes import first_error

__all__ = ["outline_examples", "outline_product"]

_MAX_FOUND: Final = 500
"""Acts, clues, answers and choices each that are kept of one file."""
_SILENT: Final = frozenset(
    {"identifier", "property_identifier", "type_identifier", "field_identifier", "argument_list", "arguments",
     "parameters", "formal_parameters", "block", "statement_block", "expression_statement", "string_start",
     "string_end"}
)  # fmt: skip
"""Kinds of nodes that no rule has anything to say of, more than half of a file."""


def outline_product(path: str, source: bytes, *, ranges: LineRanges | None = None) -> ProductOutline | None:
    """What a file does that is worth a look; None when it has no grammar or is too large.

    Args:
        path: Its name decides its language and what is honest in it.
        source: Its bytes.
        ranges: First and last lines, from 1, of what changed; only nodes that touch one are looked at.
            None: everything.
    """
    grammar = grammar_of(path)
    if grammar is None or len(source) > MAX_SOURCE_BYTES:
        return None
    root = parse_source(grammar, source)
    read = Source(grammar.name, path, source)
    facts = FileFacts.of(read, root)
    acts: dict[tuple[int, str], Act] = {}
    clues: dict[tuple[int, str], Act] = {}
    means: dict[tuple[int, str], Act] = {}
    looks: dict[tuple[int, str], Act] = {}
    answers: list[Answer] = []
    choices: dict[tuple[int, tuple[str, ...]], Answer] = {}
    for place in places(root, read, ranges):
        if place.node.type in _SILENT:
            continue
        if len(acts) < _MAX_FOUND:
            for act in acts_at(place, facts):
                acts.setdefault((act.line, act.rule), act)
        if len(clues) < _MAX_FOUND:
            for clue in clues_at(place, facts):
                clues.setdefault((clue.line, clue.rule), clue)
        if len(means) < _MAX_FOUND:
            for one in means_at(place, facts):
                means.setdefault((one.line, one.rule), one)
        if len(looks) < _MAX_FOUND:
            for look in looks_at(place, facts):
                looks.setdefault((look.line, look.rule), look)
        if len(answers) < _MAX_FOUND:
            answers.extend(answers_at(place, facts))
        if len(choices) < _MAX_FOUND:
            for choice in choices_at(place, facts, ranges):
                choices.setdefault((choice.group, choice.inputs), choice)
    for clue in digest_clues(read, answers[:_MAX_FOUND]):
        clues.setdefault((clue.line, clue.rule), clue)
    return ProductOutline(
        acts=tuple(acts.values()),
        clues=tuple(clues.values()),
        means=tuple(means.values()),
        looks=tuple(looks.values()),
        answers=tuple(answers[:_MAX_FOUND]),
        choices=tuple(choices.values()),
        error_line=first_error(root),
    )


def outline_examples(path: str, source: bytes) -> ExampleOutline | None:
    """The examples of a test file; None when it has no grammar or is too large."""
    grammar = grammar_of(path)
    if grammar is None or len(source) > MAX_SOURCE_BYTES:
        return None
    root = parse_source(grammar, source)
    return ExampleOutline(examples=tuple(read_examples(root, Source(grammar.name, path, source))))
