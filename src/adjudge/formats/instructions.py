"""What a task's text orders, as far as words tell.

Read generously: what it may have asked for is no fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["calls_tests_wrong", "names_of", "orders_other_behaviour", "orders_test_changes"]

_WRONG = r"(?:wrong|incorrect|outdated|out of date|obsolete|stale|flaky|invalid|mistaken|too strict)"
_TEST_FILE = r"(?:[\w./-]*/)?(?:test_\w+|\w+_test|\w+\.(?:test|spec))\.\w+"
_ORDER = re.compile(
    r"\b(?:(?:updat|chang|adapt|adjust|rewrit|remov|delet|skip|migrat|replac|clean ?-?up|refactor|mov|disabl"
    r"|revert|drop|merg|renam|split|consolidat|reorgani[sz]|port|convert|modif|edit|parametri[sz]|deduplicat"
    rf"|tidy|moderni[sz])\w*|(?:fix|correct|repair)(?:e[sd]|s|ing)?(?:\s+(?:an?|the|some))?\s+{_WRONG})"
    # What is to be added beside the change is no order to change what is there.
    r"(?:\s+(?!(?:add|writ|creat|introduc|new|run)\w*\b)[\w'\"`-]+(?:\.[\w'\"`-]+)*){0,6}?"
    rf"\s+[\"'`]?(?:tests?|specs?|assertions?|snapshots?|fixtures?|expectations?|{_TEST_FILE})(?!\w|\.\w)",
    re.IGNORECASE,
)
_ABOUT_TESTS = re.compile(
    r"\s*(?:(?:[\w-]+/)*tests?(?:/[\w./-]+)?(?:\([^)\n]*\))?|testing(?:/[\w./-]+)?"
    r"|[a-z]+\((?:[\w-]+[,/] ?)*tests?\))!?: (?=\S)"
)
"""A title that says in front that the work is on tests, as `tests: remove duplicates`, `chore(tests): …`."""
_REVERT = re.compile(r'\s*Revert "')
"""A title that asks for a change to be undone, with the tests it brought."""
_GOAL = re.compile(r"\b(?:so that|until|mak(?:e|es|ing)|keep(?:s|ing)?)\b", re.IGNORECASE)
_REACHED = re.compile(
    r"\s+(?:\w+\s+){0,2}?(?:pass|passes|succeed|succeeds|green|work|works|run|hold)\b", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"\b(?:not|never|no(?! longer)|without|avoid|cannot|forbidden)\b|n't\b|\bleave\b", re.IGNORECASE
)
_FORBIDS = re.compile(
    r"\b(?:do|must|should|may|can|shall)(?:\s*not|n't)\b|\b(?:never|without|leave|keep)\b", re.IGNORECASE
)
"""An order not to do something, where a bare "not" may tell what is wrong."""
_LOOK_BACK: Final = 40
_TESTS = (
    r"(?:tests?|specs?|assertions?|expectations?|expected (?:values?|outputs?)|snapshots?|golden\w*"
    r"|fixtures?)"
)
_CALLED_WRONG = re.compile(
    rf"\b{_TESTS}\b[^.;!?\n]{{0,60}}\b{_WRONG}\b|\b{_WRONG}\b(?:\s+[\w'`-]+){{0,3}}?\s+{_TESTS}\b"
    rf"|\b(?:regenerat|re-record|renam|mov|port|split|reorgani[sz])\w*\b[^.;!?\n]{{0,60}}\b{_TESTS}\b",
    re.IGNORECASE,
)
_OTHER_BEHAVIOUR = re.compile(
    r"\b(?:remov|delet|drop|retir|deprecat|renam|replac|migrat|redesign|rework|restructur|instead of"
    r"|no longer|chang|switch|convert|upgrad|breaking|stop\s+\w+ing|rather than|from now on|by default"
    r"|must now|should now)",
    re.IGNORECASE,
)
_KINDS: Final = (
    (
        re.compile(r"(?:^|/)(?:conftest\.py|pytest\.\w+|\.pytest\.\w+|tox\.ini|setup\.cfg|pyproject\.toml)$"),
        re.compile(
            r"\b(?:conftest|pytest\.ini|addopts|testpaths|pythonpath|markers?|deselect\w*|pytest config\w*"
            r"|(?:configure|set up|setup|configuration of|config for) (?:the )?(?:pytest|tests?|suite))\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"(?:^|/)(?:package\.json|jest\.|vitest\.|\.mocharc|karma\.|ava\.|babel\.|vite\.)"),
        re.compile(
            r"\b(?:test script|npm scripts?|package\.json|(?:jest|vitest|mocha) config\w*"
            r"|(?:to|with|use|using|configure) (?:jest|vitest|mocha|ava))\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"(?:^|/)(?:Makefile|makefile|GNUmakefile|[^/]+\.(?:mk|sh|bash))$"),
        re.compile(
            r"\b(?:makefile|make target|test target|test script|build script|shell script)\b", re.IGNORECASE
        ),
    ),
    (
        re.compile(
            r"(?:^|/)(?:build\.gradle|settings\.gradle|gradle\.properties|\.mvn|\.cargo|go\.work|nextest)"
        ),
        re.compile(
            r"\b(?:gradle|maven|cargo config|workspace file|build (?:file|configuration))\b", re.IGNORECASE
        ),
    ),
)
"""Kinds of files that decide how tests run, and the words by which a task means one of them."""


def orders_test_changes(instruction: str) -> bool:
    """Whether a task's text asks for tests to be changed. One that forbids it anywhere does not."""
    found = bool(_REVERT.match(instruction))
    titled = _ABOUT_TESTS.match(instruction)
    if titled:
        title = instruction[titled.end() :].partition("\n")[0]
        found = not _FORBIDS.search(title) and not _REACHED.search(f" {title}")
    for match in _ORDER.finditer(instruction):
        if _is_forbidden(instruction, match):
            return False
        # "Change it so that the tests pass" names a goal, and orders no change to them.
        found = found or not (_REACHED.match(instruction, match.end()) or _GOAL.search(match[0]))
    return found


def calls_tests_wrong(instruction: str) -> bool:
    """Whether it says of tests that they are wrong, flaky or in the wrong place."""
    return any(not _is_forbidden(instruction, match) for match in _CALLED_WRONG.finditer(instruction))


def orders_other_behaviour(instruction: str) -> bool:
    """Whether it may ask for behaviour to be taken away or made another, so that old tests fail rightly."""
    return any(not _is_forbidden(instruction, match) for match in _OTHER_BEHAVIOUR.finditer(instruction))


def names_of(instruction: str, paths: Iterable[str]) -> list[str]:
    """Paths that it names, or means by their kind, without forbidding it."""
    return [path for path in paths if _names(instruction, path)]


def _names(instruction: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    patterns = [re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")]
    patterns += [words for kind, words in _KINDS if kind.search(path)]
    matches = [match for pattern in patterns for match in pattern.finditer(instruction)]
    return bool(matches) and not any(_is_forbidden(instruction, match) for match in matches)


def _is_forbidden(instruction: str, match: re.Match[str]) -> bool:
    """Whether the sentence before it, or it itself, says not to."""
    before = instruction[max(0, match.start() - _LOOK_BACK) : match.start()]
    sentence = re.split(r"[.;!?]\s|\n", before)[-1]
    return bool(_FORBIDDEN.search(sentence) or _FORBIDDEN.search(match[0]))
