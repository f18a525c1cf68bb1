"""Nodes that are passed over without being asked about: no rule has anything to say of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpus.cases import read_cases

from adjudge.syntax.grammars import grammar_of, parse_source
from adjudge.syntax.productcode.acts import acts_at
from adjudge.syntax.productcode.answers import answers_at
from adjudge.syntax.productcode.choices import choices_at
from adjudge.syntax.productcode.clues import clues_at
from adjudge.syntax.productcode.facts import FileFacts
from adjudge.syntax.productcode.means import means_at
from adjudge.syntax.productcode.outline import _SILENT
from adjudge.syntax.productcode.reading import Source, places

pytestmark = pytest.mark.anyone


def test_no_rule_speaks_of_a_node_that_is_passed_over() -> None:
    seen: set[str] = set()
    for case in read_cases("develop"):
        for path, text in case.after.items():
            grammar = grammar_of(path)
            if grammar is None or not case.source.startswith("develop/product"):
                continue
            data = text.encode()
            root = parse_source(grammar, data)
            facts = FileFacts.of(Source(grammar.name, path, data), root)
            for place in places(root, facts.source, None):
                if place.node.type not in _SILENT:
                    continue
                seen.add(Path(path).suffix)
                said = [
                    *acts_at(place, facts), *clues_at(place, facts), *means_at(place, facts),
                    *answers_at(place, facts), *choices_at(place, facts, None),
                ]  # fmt: skip
                assert not said, (case.id, place.node)
    assert {".py", ".js", ".ts", ".go"} <= seen
