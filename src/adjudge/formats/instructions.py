"""What a task's text orders, as far as words tell.

Read generously: what it may have asked for is no fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from adjudge.formats.testorders import (
    TEST_FILE,
    orders_changes_of_tests,
    orders_tests_left_out,
    without_code,
)

__all__ = [
    "calls_tests_wrong",
    "names_of",
    "orders_other_behaviour",
    "orders_skips",
    "orders_test_changes",
    "removed_names",
    "removes_what_is_at",
]

_WRONG = r"(?:wrong|incorrect|outdated|out of date|obsolete|stale|flaky|invalid|mistaken|too strict)"
_UNSTEADY = (
    r"(?:unreliable|brittle|racy|fragile|unstable|intermittent\w*|sporadic\w*|occasional\w*"
    r"|random\w*|non-?deterministic|hanging|slow|misspel\w+)(?:\s+failing)?"
)
_ORDER = re.compile(
    r"\b(?:(?:updat|chang|adapt|adjust|rewrit|remov|delet|skip|migrat|replac|clean ?-?up|refactor|mov|disabl"
    r"|revert|drop|merg|renam|split|consolidat|(?:re)?organi[sz]|port|convert|modif|edit|parametri[sz]|de-?dup"
    r"|tidy|moderni[sz]|improv|rework|simplif|unif|speed(?: |-)?up|extract|restructur|reorder|isolat|separat"
    r"|combin|trim|prun|synchroni[sz]|stabili[sz]|de-?flak|standardi[sz]|streamlin|reformat|reduc"
    r"|shorten|relax|loosen|normali[sz]|rearrang|quarantin|regenerat|renew|refresh|overhaul|harden|eliminat|revis"
    r"|optimi[sz]|parameteri[sz]|templati[sz]|unfold|unwrap|flatten|unnest|regroup|collaps|inlin|silenc"
    r"|comment(?:s|ed|ing)?[ -]out)\w*(?:/\w+)?"
    rf"|(?:fix|correct|repair)(?:e[sd]|s|ing)?(?:\s+(?:an?|the|some))?\s+(?:{_WRONG}|{_UNSTEADY}))"
    # What is to be added beside the change is no order to change what is there, nor is why it is made.
    r"(?:\s+(?!(?:add|writ|creat|introduc|new|run)\w*\b|(?:so|because|since|until|which|while|if|when)\b)"
    r"\.?[\w'\"`-]+(?:[.:]+[\w'\"`-]+)*(?:\([^()\n]{0,30}\)`?)?){0,6}?"
    r"\s+[\"'`]?(?:tests?|specs?|test-?(?:cases?|suites?|files?)|assert(?:ion)?s?|snapshots?|fixtures?"
    r"|expectations?|goldens?|expected (?:values?|outputs?|results?)|(?:\w+\.)?test_\w+"
    rf"|{TEST_FILE})(?!\w|\.\w)",
    re.IGNORECASE,
)
_ABOUT_TESTS = re.compile(
    r"\s*(?:(?:[\w-]+/)*tests?(?:/[\w./-]+)?(?:\([^)\n]*\))?|testing(?:/[\w./-]+)?|(?:[A-Z]+[,/] ?)*TST"
    r"|[a-z]+\((?:[\w-]+[,/] ?)*tests?\))!?: (?=\S)"
)
"""A title that says in front that the work is on tests, as `tests: remove duplicates`, `chore(tests): …`."""
_IN_FRONT = r"\s*(?:[\w/.-]+(?:\([^)\n]*\))?!?: )?"
"""What a title may say in front of what is to be done: `chore(ci): `."""
_END = r"(?=\s*(?:$|\n|[(.,;:]))"
_REVERT = re.compile(rf'{_IN_FRONT}Revert "|(?:.*\n)*This reverts commit [0-9a-f]{{7,40}}')
"""A text that asks for a change to be undone, with the tests it brought."""
_BETTER = (
    r"(?:faster|independent|deterministic|robust|simpler|parallel\w*|reliable|readable|conditional|strict\w*"
    r"|smaller|shorter|separate|quieter|hermetic|isolated|consistent|verbose|flaky|brittle|fragile)"
)
"""What a test is to be, where it is the test that is to change."""
_TITLED = re.compile(
    rf"{_IN_FRONT}(?:"
    # Not to test something any more, or not in that way.
    r"(?:do not|don't|no longer) test\s+\w"
    r"|(?:add|put)\s+(?:an?\s+|some\s+)?(?:skip|xfail|skipif)s?(?:\s+(?:mark(?:er)?|decorator)s?)?"
    rf"(?:\s+(?:to|on|for)\b[^.\n]*\btests?)?{_END}"
    r"|(?:limit|restrict)\s+(?:[\w'`-]+\s+){0,4}?tests?\s+to\b"
    r"|expect(?:\s+[\w'`-]+){1,5}?\s+in\s+(?:[\w'`-]+\s+){0,3}?`?(?:tests?|test_\w+)\b"
    r"|(?:use|prefer|adopt|avoid"
    r"|(?:do not|don't|stop)\s+(?:us|rely|depend|hard-?cod|(?:monkey)?patch|mock|assum|requir|call)\w*)"
    r"\b(?:(?!\.\s)[^\n]){1,80}?\b(?:in|for|inside|within)(?:\s+(?!(?:to|and|so|that|which)\b)[\w'`-]+){0,5}?\s+"
    rf"(?:tests?|test_\w+(?:\(\))?|{TEST_FILE}){_END}"
    r"|(?:fix|correct|mend)\w*\s+(?:[\w'`-]+\s+){0,4}?tests?\s+(?:which|that)\b[^.\n]{0,40}\b"
    r"(?:wrong|incorrect|wrongly|incorrectly|the same thing|nothing|useless)\b"
    r"|(?:(?:fix|avoid|reduc|address|mend)\w*\s+)?(?:[\w'`-]+\s+){0,3}?flak(?:y|es?|iness)\b"
    r"|(?:\w+ly\s+)?(?:improv|rework|restructur)\w*\s+(?:the\s+)?testing\b"
    # Tests are what is spoken of.
    rf"|(?:[\w'`-]+\s+){{0,3}}?(?:tests?|test_\w+|{TEST_FILE})\s+(?:use[sd]?"
    r"|(?:no longer|do(?:es)? not|don't|doesn't)\s+(?:rel|depend|need|us|requir|hang|assum)\w*)\b"
    r"|(?:[^.\n]{0,60}\s)?tests?\s+(?:clean-?ups?|refactor\w*|tweaks|formatting|migration|rewrite"
    r"|simplifications?|maintenance|reorgani[sz]ation|adjustments)\b"
    r"|(?:minor|small|some|various|more)\s+(?:fix(?:es)?|changes?|tweaks?|updates?)\s+(?:to|in|of)\s+"
    r"(?:[\w'`-]+\s+){0,2}?tests?\b"
    r"|(?:increas|rais|lengthen|bump|widen)\w*\s+(?:[\w'`-]+\s+){0,3}?"
    r"(?:time-?outs?|windows?|delays?|tolerances?|margins?)\s+(?:in|for|of|when)\b[^.;\n]{0,30}?\b(?:tests?|testing)\b"
    r"|(?:migrat|switch|convert|port|mov)\w*\b[^.\n]{0,60}?\b(?:to|from)\s+(?:us(?:e|ing)\s+)?(?:the\s+)?"
    r"(?:node:test|node[- ]test|jest|vitest|mocha|ava|tape?|pytest|unittest|nose|testify|ginkgo|chai)\b"
    r"|(?:use|prefer|adopt)\s+(?:[\w'`-]+\s+){0,3}?`?(?:pytest\.\w+|t\.(?:TempDir|Setenv|Parallel|Cleanup))"
    r"|make\s+(?:an?\s+)?(?:separate|dedicated|standalone)\s+tests?\b"
    rf"|make\s+(?:[\w'`-]+\s+){{0,5}}?tests?\s+(?:more |less )?{_BETTER})",
    re.IGNORECASE,
)
"""Titles that ask for tests to be written another way, in other words than those of an order."""
_SKIPS = re.compile(
    # Words that mean nothing but tests.
    r"\b(?:x-?fail(?:s|ed|ing|ures?)?|expectedFailure|importorskip|mark\.skip\w*|t\.Skip\w*|skip-?if|skipUnless"
    r"|(?:it|test|describe)\.(?:skip\w*|todo|fails|failing|fixme))\b|(?<!\w)\.skip\b"
    r"|\b(?:mark|set|flag|turn|declar)\w*\s+(?:[\w'`.-]+\s+){0,6}?(?:as |to |into )?(?:an?\s+)?"
    r"expected[ -]fail\w*"
    r"|\b(?:mark|flag|treat|annotat)\w*\s+(?:[\w'`.-]+\s+){0,6}?(?:as\s+)?(?:an?\s+)?"
    r"(?:known|expected)[\s-]+(?:test\s+)?(?:to fail|fail\w*|broken)\b"
    r"|\b(?:mark|flag|treat)\w*\s+(?:[\w'`.-]+\s+){0,5}?tests?\s+(?:[\w'`.-]+\s+){0,5}?as\s+"
    r"(?:skip\w*|flaky|unstable|broken|failing)\b"
    r"|\b(?:allow|accept|tolerat)\w*\s+(?:[\w'`.-]+\s+){0,4}?(?:test\s+failures?|tests?\s+to\s+fail)\b"
    r"|\b(?:tests?|specs?|test cases)\b,?(?:\s+[\w'`-]+){0,4}?,?\s+(?:skip|disabl|xfail)(?:p?ing)\b"
    r"|\bcomment(?:s|ed|ing)?[\s-]+out\s+(?:[\w'`.-]+\s+){0,6}?(?:tests?|specs?|cases|assertions?)\b",
    re.IGNORECASE,
)
_SKIP_IT = re.compile(
    r"\b(?:tests?|specs?|test[\s-]cases?|test_\w+)\b(?:(?![.!?]\s|\n\s*\n).){0,200}?"
    r"(?<!not )(?<!n't )(?<!never )\bskip\s+(?:it|them|this one|that one|those)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A test is spoken of, and then: "don't delete it, skip it"."""
_SKIPS_TITLED = re.compile(
    rf"{_IN_FRONT}(?:(?:temporarily|for now)\s+)?"
    r"(?:(?:skip|xfail)(?:s|ped|ping)?\s+(?:[\w'`.-]+\s+){0,8}?(?:failures?|suites?|tests?|failing|flaky)"
    r"|ignor(?:e[sd]?|ing)\s+(?:[\w'`.-]+\s+){0,4}?(?:failing|flaky|broken)\s+(?:suites?|tests?))\b",
    re.IGNORECASE,
)
"""Texts that ask for tests not to be run, or to be let fail."""
_ASKS_LESS = re.compile(
    rf"(?:\b(?:tests|assertions)\b|\btest_\w+|(?<![\w/])(?:{TEST_FILE}))[`'\"]?\s+"
    r"(?:(?:must|need|should|shall)(?:\s+not|n't|\s+no longer)|no longer(?:\s+(?:ha|need)\w*\s+to)?)\s+"
    r"(?:compar|check|assert|expect|insist|requir|mind|depend|pin)(?:e[sd]?|s|ing)?\b",
    re.IGNORECASE,
)
"""A test of which less is to be asked: "`test_bad_file` must not compare it any more"."""
_MAKE_IT = re.compile(
    rf"(?:\btest_\w+|(?<![\w/])(?:{TEST_FILE})|\b(?:this|that|the|one|our)\s+(?:[\w'`-]+\s+){{0,3}}?tests?)\b"
    r"(?:(?!\n\s*\n).){0,250}?"
    rf"\bmake\s+(?:it|them|this|that)\s+(?:\w+\s+)?(?:more |less )?{_BETTER}\b",
    re.IGNORECASE | re.DOTALL,
)
"""A test that is to be another: "`test_catalogue` fails on every branch: it counts. Make it robust."."""
_EXPECTED = re.compile(
    r"\b(?:fix|correct)(?:e[sd]|s|ing)?(?:\s+(?!failing|broken|red\b)[\w'`.-]+){0,3}?\s+(?:snapshots?"
    r"|expectations?|expected (?:values?|outputs?|results?)|test (?:assertions?|expectations?))\b",
    re.IGNORECASE,
)
_TEST_LINT = re.compile(
    r"\b(?:testifylint|thelper|paralleltest|tparallel|ginkgolinter|flake8-pytest-style|PT0\d\d"
    r"|eslint-plugin-(?:jest|mocha|ava|vitest|testing-library|jest-dom))\b"
)
"""Linters of tests: what they say is changed in tests."""
_GOAL = re.compile(r"\b(?:so that|until|let(?:s|ting)?|mak(?:e|es|ing)|keep(?:s|ing)?)\b", re.IGNORECASE)
_REACHED = re.compile(
    # In the same paragraph.
    r"(?!\s*\n\s*\n)\s+(?:\w+\s+){0,2}?(?:pass|passes|succeed|succeeds|green|hold"
    # How they are to run, not that.
    r"|(?:works?|run)(?!\s+(?:without|with|through|via|under|against|in parallel)\b))\b",
    re.IGNORECASE,
)
_FORBIDDEN = re.compile(
    r"\b(?:not|never|no(?! longer)|without|avoid|cannot|forbidden)\b|n't\b|\bleave\b", re.IGNORECASE
)
_FORBIDS = re.compile(
    r"\b(?:do|must|should|may|can|shall)(?:\s*not|n't)\b|\b(?:never|without|leave|keep)\b", re.IGNORECASE
)
"""An order not to do something, where a bare "not" may tell what is wrong."""
_SAYS_OF_IT: Final = re.compile(
    r"\s+(?:has|have|is|are|will|would|won't|does|do|makes?|gives?)\b", re.IGNORECASE
)
_BLANKS: Final = re.compile(r"[^\S\n]+")
_BLANK_LINES: Final = re.compile(r"\n(?: ?\n)+")
_MAX_TEXT: Final = 50_000
_LOOK_BACK: Final = 40
_EMPHASIS: Final = re.compile(
    r"(?<![^\s(\"'])(\*{1,3}|_)(?![\s*_])([^*_`\n]{1,120}?)(?<![\s*_])\1(?![^\s).,;:!?\"'])"
)
_NOW_AND_THEN = (
    r"(?:now and (?:then|again)|from time to time|once in a while|every (?:other|few|second|third|fifth)"
    r"|(?:some|half) (?:of )?(?:the )?(?:builds|runs|time)|sometimes|at random|randomly|occasionally"
    r"|intermittently|sporadically|one (?:build|run) in|once in \w+ (?:builds|runs|times))"
)
"""How often something fails that is not steady: it is then the test that is in doubt."""
_TESTS = (
    r"(?:tests?|specs?|assertions?|expectations?|expected (?:values?|outputs?)|snapshots?|golden\w*"
    r"|fixtures?)"
)
_A_TEST = rf"(?:\b{_TESTS}\b|(?<![\w/])(?:{TEST_FILE})|\btest_\w+)"
_CALLED_WRONG = re.compile(
    rf"\b{_TESTS}\b[^.;!?\n]{{0,60}}\b{_WRONG}\b|\b{_WRONG}\b(?:\s+[\w'`-]+){{0,3}}?\s+{_TESTS}\b"
    rf"|\b(?:regenerat|re-record|renam|mov|port|split|reorgani[sz])\w*\b[^.;!?\n]{{0,60}}\b{_TESTS}\b"
    rf"|{_A_TEST}[^.;!?\n]{{0,60}}\bfail\w*\b[^.;!?\n]{{0,30}}\b{_NOW_AND_THEN}\b"
    rf"|{_A_TEST}[^.;!?\n]{{0,60}}\b{_NOW_AND_THEN}\b[^.;!?\n]{{0,20}}\b(?:fail|break)\w*",
    re.IGNORECASE,
)
_TAKING_OUT = r"(?:get(?:ting)? rid of|(?:rip|throw|tear|tak|cut|strip)\w*\s+(?:[\w'`.-]+\s+){0,5}?out\b)"
_ALONG = re.compile(
    rf"\b(?:(?:remov|delet|drop|retir|scrap)\w*|{_TAKING_OUT})(?:(?![.!?;]\s|\n\s*\n).){{1,300}}?"
    r"(?:,|\b(?:and|with|including|plus|as well as))\s+"
    r"(?:(?:also|along with|together with|whatever|all|any|every|the|its|their|your|old"
    r"|corresponding|related|matching|associated|of)\s+){0,4}(?:tests?|specs?|golden\w*|snapshots?|fixtures?)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Tests in a list of what is to be taken away: "rip it out: the option, and whatever tests belong to it"."""
_OTHER_BEHAVIOUR = re.compile(
    rf"\b(?:{_TAKING_OUT}|"
    r"remov|delet|drop|retir|deprecat|renam|replac|migrat|redesign|rework|restructur|alter|instead\b"
    r"|becomes?\b|wrong way r?ound|no longer|any ?more|in future|chang|switch|convert|upgrad|breaking"
    r"|stop\s+\w+ing|rather than|from now on|by default"
    r"|must now|should now)",
    re.IGNORECASE,
)
_REMOVE = re.compile(rf"\b(?:(?:remov|delet|drop|retir)\w*|{_TAKING_OUT})", re.IGNORECASE)
_CODE_NAME = re.compile(
    r"`([^`\n]{2,80})`|(?<![\w/])([A-Za-z]\w*(?:\.\w+)+|[A-Za-z]+_\w+|[A-Za-z][a-z0-9]+[A-Z]\w*)(?!\w)"
)
"""A name in backquotes, with a dot, an underscore or a capital inside."""
_LOOK_AHEAD: Final = 160
_REMOVES = re.compile(
    rf"{_IN_FRONT}(?:remov|delet|drop|retir|get rid of)(?:e[sd]?|ing|s)?\s+(?P<what>[^\n]+)", re.IGNORECASE
)
_ASIDE = re.compile(
    r"[.,;:(]|\b(?:from|in favou?r|because|since|as|when|if|so|to|and (?:use|add|replac|make)\w*)\b",
    re.IGNORECASE,
)
_SHARED_WORDS: Final = 2
_SAY_NOTHING: Final = frozenset(
    {"the", "an", "all", "old", "unused", "test", "spec", "src", "lib", "py", "js", "ts", "go", "of", "in"}
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


@lru_cache(maxsize=4)
def _plain(instruction: str) -> str:
    """A text without Markdown's emphasis: an order to *skip* something is one. Of a long one the start."""
    single = _BLANK_LINES.sub("\n\n", _BLANKS.sub(" ", instruction[:_MAX_TEXT]))
    return _EMPHASIS.sub(r"\2", single)


def orders_test_changes(instruction: str) -> bool:
    """Whether a task's text asks for tests to be changed. One that forbids it anywhere does not."""
    instruction = without_code(_plain(instruction))
    found = bool(
        _REVERT.match(instruction)
        or _TITLED.match(instruction)
        or _TEST_LINT.search(instruction)
        or _ASKS_LESS.search(instruction)
        or _MAKE_IT.search(instruction)
    )
    titled = _ABOUT_TESTS.match(instruction)
    if titled:
        title = instruction[titled.end() :].partition("\n")[0]
        found = not _FORBIDS.search(title) and not _REACHED.search(f" {title}")
    for match in _ORDER.finditer(instruction):
        if _is_forbidden(instruction, match):
            return False
        # "Change it so that the tests pass" names a goal, and orders no change to them.
        found = found or not (
            _REACHED.match(instruction, match.end()) or _GOAL.search(match[0]) or _is_told(instruction, match)
        )
    return (
        found
        or orders_changes_of_tests(instruction)
        or any(
            not (_is_forbidden(instruction, match) or _REACHED.match(instruction, match.end()))
            for pattern in (_EXPECTED, _ALONG)
            for match in pattern.finditer(instruction)
        )
    )


def orders_skips(instruction: str) -> bool:
    """Whether a task's text asks for tests to be skipped, or to be let fail."""
    instruction = without_code(_plain(instruction))
    found = [*_SKIPS.finditer(instruction)]
    if _SKIP_IT.search(instruction):
        return True
    if any(_is_forbidden(instruction, match) for match in found):
        return False
    return bool(found) or _SKIPS_TITLED.match(instruction) is not None or orders_tests_left_out(instruction)


def calls_tests_wrong(instruction: str) -> bool:
    """Whether it says of tests that they are wrong, flaky or in the wrong place."""
    instruction = _plain(instruction)
    return any(not _is_forbidden(instruction, match) for match in _CALLED_WRONG.finditer(instruction))


def orders_other_behaviour(instruction: str) -> bool:
    """Whether it may ask for behaviour to be taken away or made another, so that old tests fail rightly."""
    instruction = _plain(instruction)
    return any(not _is_forbidden(instruction, match) for match in _OTHER_BEHAVIOUR.finditer(instruction))


def removed_names(instruction: str) -> frozenset[str]:
    """Names of code that it asks to be taken away: `url` in "remove `url` from the options"."""
    instruction = _plain(instruction)
    found: set[str] = set()
    for match in _REMOVE.finditer(instruction):
        if _is_forbidden(instruction, match):
            continue
        sentence = re.split(r"[.;!?]\s|\n|\bfrom\b", instruction[match.end() : match.end() + _LOOK_AHEAD])[0]
        for name in _CODE_NAME.finditer(sentence):
            found.update(part for part in re.findall(r"\w+", name[1] or name[2]) if len(part) > 2)
    return frozenset(found)


def removes_what_is_at(instruction: str, path: str) -> bool:
    """Whether its title takes away, in plain words, what lies at a path: "Remove the jest examples".

    Two words of what is taken away have to be words of the path.
    """
    title = _REMOVES.match(_plain(instruction))
    if title is None:
        return False
    wanted = _stems(_ASIDE.split(title["what"])[0])
    return len(wanted & _stems(path)) >= _SHARED_WORDS


def _stems(text: str) -> set[str]:
    """Words of a text or a path, without their plural; those that say nothing are left out."""
    words = (word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", text))
    return {word.removesuffix("s") for word in words if len(word) > 1} - _SAY_NOTHING


def names_of(instruction: str, paths: Iterable[str]) -> list[str]:
    """Paths that it names, or means by their kind, without forbidding it."""
    instruction = _plain(instruction)
    return [path for path in paths if _names(instruction, path)]


def _names(instruction: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    patterns = [re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")]
    patterns += [words for kind, words in _KINDS if kind.search(path)]
    matches = [match for pattern in patterns for match in pattern.finditer(instruction)]
    return bool(matches) and not any(_is_forbidden(instruction, match) for match in matches)


def _is_told(instruction: str, match: re.Match[str]) -> bool:
    """Whether it tells something, and orders nothing: "parametrised tests", "changing tests is no use".

    A title may be written so.
    """
    word = match[0].split(maxsplit=1)[0].lower()
    if word.endswith("ing"):
        return _SAYS_OF_IT.match(instruction, match.end()) is not None
    return word.endswith("ed") and instruction[: match.start()].rpartition("\n")[2].strip() != ""


def _is_forbidden(instruction: str, match: re.Match[str]) -> bool:
    """Whether the sentence before it, or it itself, says not to."""
    before = instruction[max(0, match.start() - _LOOK_BACK) : match.start()]
    sentence = re.split(r"[.;!?]\s|\n", before)[-1]
    return bool(_FORBIDDEN.search(sentence) or _FORBIDDEN.search(match[0]))
