"""Whether a task's text orders changes to tests, read clause by clause.

People order in three ways: by what is to be done ("rewrite the cases in lexer_test.go"), by what has to
become of something ("the golden files will have to follow"), and by pointing back ("tests still pin the old
keys; re-pin them"). A clause that says tests are to pass, to be added or to be left alone orders nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["TEST_FILE", "orders_changes_of_tests", "orders_tests_left_out", "without_code"]

_MAX_CLAUSE: Final = 600

_FOLDERS: Final = (
    r"(?:tests?|specs?|e2e|__tests__|__snapshots__|__screenshots__|testdata|fixtures|golden|testutil)"
)
TEST_FILE: Final = (
    r"(?:[\w./*-]*/)?(?:test_[\w*]+|[\w*]+_test|[\w.*-]*[.-](?:test|spec|e2e|cy)|conftest|expected_[\w*]+)"
    rf"\.\w+(?:::\w+)*|(?:\./)?(?:[\w.-]+/)*{_FOLDERS}/[\w./*-]*|(?:[\w.-]+/)+{_FOLDERS}(?![\w/.])"
)
"""How a test file, or a folder of tests, is written."""

_FENCE: Final = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_TABLE_ROW: Final = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_SENTENCE: Final = re.compile(
    r"(?<=[.!?;])[)\"'`*]*\s+|\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)|\n(?=#)|(?<=\n)\s*#.*\n|\s[\u2013\u2014]\s"
)
_BULLET: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#+)\s+(?:\[.\]\s+)?")
_CLAUSE: Final = re.compile(
    r"\s*[,;()]\s+|\s*[()]\s*|:\s+|\s-\s"
    r"|\s+(?=(?:but|so|because|since|while|when|whenever|if|unless|until|before|although|though|whereas|then)\s)"
    # What is done beside it.
    r"|\s+and\s+(?=(?:please\s+|then\s+|also\s+)?"
    r"(?:add|writ|creat|run|keep|mak|do|don't|leave|let|have|see|check|includ|pass|use)\w*\s)",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\([^()]*\)")
_FORGET: Final = re.compile(r"\b(?:don't|do not|let's not|never) forget\b(?: (?:to|about))?", re.IGNORECASE)


def _any(words: str) -> str:
    """A pattern for one of several words, which are patterns themselves; `_` stands for a blank."""
    return rf"(?:{'|'.join(words.split()).replace('_', ' ')})"


_TESTS: Final = re.compile(
    r"(?<![\w./-])(?<!\bmake )(?<!\bnpm )(?<!\bgo )(?<!\byarn )(?<!\bcargo )(?<!\brun )[`'\"*]*(?:"
    rf"{TEST_FILE}|(?:unit |e2e |end-to-end |integration |table |doc)?tests?"
    r"(?![ -](?:modes?|runs?|commands?|runners?|drives?|environments?)\b)"
    r"|test-?cases?|specs|suites?|assert(?:ion)?s?|asserted|expectations?|goldens?|snapshots?|fixtures?|cassettes?|screenshots?"
    r"|testdata|__tests__|__snapshots__|(?:e2e|visual) baselines?|reference images?|(?:unittest\.)?TestCase"
    r"|expected (?:values?|outputs?|results?|strings?|texts?|files?|numbers?|CSVs?|JSON|lists?|tables?|data"
    r"|messages?)|test_[\w*]+(?:::\w+)*|Test[A-Z]\w+(?:/\w+)*\*?)(?![\w-]|/\w|\.\w)[`'\"*]*",
    re.IGNORECASE,
)
"""What tests are made of, which a clause has as `@`."""
_STEM: Final = _any("""
    updat chang adapt adjust amend alter rewrit rephras reword remov delet drop migrat replac clean
    refactor mov revert revers undo merg renam split consolidat (?:re)?organi[sz] port convert modif edit
    parame?t(?:e)?ri[sz] de-?dup(?:licat)? tid moderni[sz] improv rework simplif unif speed extract
    restructur reorder isolat separat combin trim prun synchroni[sz] sync stabili[sz] de-?flak
    standardi[sz] streamlin reformat reduc shorten relax loosen tighten strengthen normali[sz] rearrang
    quarantin regenerat renew refresh overhaul harden eliminat revis optimi[sz] templati[sz] unfold unwrap
    flatten unnest regroup collaps inlin silenc swap exchang flip invert shift kill scrap retir purg
    discard redo recalculat recomput recreat rebuil relocat transfer turn fold hoist align translat rotat
    transform repoint correct repair rip throw chuck strip bring carr pull sweep scrub anonymi[sz]
    reformulat annotat patch lower raise freez distribut
    re-(?:record|bless|pin|generat|indent|bas|target|point|captur|export|sav|accept|writ|do|cut|draw)
""")
_PHRASES: Final = _any("get_rid_of sort_out fix_up go_through take_out break_up give")
_DO: Final = rf"(?:{_STEM}p?(?:e|y|ify|fy|d|n|t)?|{_PHRASES})"
_CHANGED: Final = rf"(?:{_STEM}\w{{0,4}}(?:ed|en|d|ne)|split|rebuilt|brought)"
_DONE: Final = (
    rf"(?:{_CHANGED}|{_STEM}\w{{0,4}}ing|"
    + _any("""
    ripped thrown cut stripped taken carried done taught swept fixed mended gone made put told given
    sorted_out
""")
    + ")"
)
_NEED: Final = (
    r"(?:should|must|shall|needs?|needed|ha(?:s|ve)(?= to| \w+ to)|ought|will|would|wants?|gets?"
    r"|(?:is|are) to|'ll)"
)
_BECOME: Final = _any("""
    follow reflect match mirror agree go vanish disappear expect assert compare suit become fit use say
    parse end die accept tolerate be_on be_back catch_up
""")
_BEFORE: Final = (
    r"(?:^|\b(?:please|pls|plz|to|and|also|then|you|we|u|just|or|so|therefore|thus|hence|kindly|simply|now|let's)"
    r"\s+(?:\w+ly\s+)?)"
)
"""What stands before an order."""
_WAYS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_BEFORE}{_DO}\b.*@",
        r"^(?:please )?use\b.*\b(?:in|for) (?:\w+ ){0,2}@",
        r"^(?:please |and |can you |could you |then )?(?:have|let|teach|get|make(?! sure))\b.*@",
        rf"@.*\b{_NEED}\b.*\b(?:{_DONE}|{_DO}|{_BECOME})\b",
        rf"@.*\bcan (?:be {_CHANGED}|go)\b",
        rf"@.*(?:→|->|=>) *{_DO}\b",
        rf"^(?:\w+ ){{0,3}}@ (?:(?!was|were|been|had)\w+ ){{0,3}}{_CHANGED}\b",
        rf"^(?:\w+ ){{0,3}}@.* {_CHANGED}(?: (?:to|into|over)\b|$)",
        r"@(?: \w+)? (?:follow|change|go|move|included|alike|too|as well|and all|come along)$",
        r"@ (?:\w+ )?(?:go|move|come)(?:es|s)? (?:along|with|to|into|away|over)\b",
        r"\b(?:including|along with|together with|as well as|alike)\b.*@",
        rf"\b(?:like|want)\b.*@.*\b{_DONE}\b",
        r"\bgo(?:es)? (?:in)?to @",
        r"\b(?:have|get|take|move|pull|want) .* out of (?:the )?(?:\w+ )?@",
    )
)
"""How a clause orders that tests be changed."""
_HAVE_TO: Final = re.compile(
    r"@(?: [^@\s]+){0,6} (?:should|must|shall|ha(?:s|ve) to|ought to|needs? to) (?!be\b)\w", re.IGNORECASE
)
_THEM: Final = re.compile(
    rf"{_BEFORE}(?:(?:{_DO}|put|take)(?: up| out)? (?:(?:it|them|both|those|these)\b|(?:that|this)(?: one)?"
    r"(?: (?:round|up|out|too|as|to|so|in|with|by|there)\b|$))"
    r"|sort (?:it|them|those|these|that|this|both) out\b|out with (?:it|them)\b"
    r"|(?:make|have|let|get) (?:it|them|these|those)\b)",
    re.IGNORECASE,
)
"""An order about what was just spoken of."""
_AFTER_A_STOP: Final = re.compile(
    r"^(?:(?:so|and|then) )*(?:they|those|these|both|(?:that|this) one)\b", re.IGNORECASE
)
_THEY: Final = re.compile(
    r"^(?:(?:so|and|then) )*(?:they|those|these|both|it|(?:that|this) one)\b", re.IGNORECASE
)
_NOTHING_OF_IT: Final = re.compile(
    r"(?<![\w.])(?:not|never|no(?! (?:longer|more))|without \w+ing|(?:add|writ|creat|extend|introduc|provid)"
    r"(?:e|es|ing|s)?\b.*@|(?:visible|hidden|new|additional|more|further) (?:\w+ )?@|(?:put|have) @"
    r"|your (?:own )?@|@ for the new|"
    + _any("""
        avoid cannot nothing neither nor leav(?:e|ing) keep(?:s|ing)? untouched unchanged pass(?:es|ing)?
        green succeeds? fail(?:s|ing|ed|ures?)? stays? remains? continues? shows? shown see describes?
        demonstrates? illustrates? runs? running works? (?<!that_)(?<!which_)covers? forbidden prohibited
        allowed (?:is|are)_provided exists? verif(?:y|ies) ensures? considered enough
    """)
    + r")(?!\w|\()|n't\b",
    re.IGNORECASE,
)
"""A clause with one of these orders no change of tests."""
_INNOCENT: Final = re.compile(
    r"(?<![\w.])(?:(?:not|n't|never) (?:touch|chang|modif|edit)\w*"
    r"|(?:is|are|live|lives) (?:in|at|under|below) @|"
    + _any("""
        pass(?:es|ing)? green leav(?:e|ing) keep(?:s|ing)? untouched unchanged shows? shown see describes?
        demonstrates? illustrates? add(?:s|ing)? writ(?:e|ing) runs? running
    """)
    + r")(?!\w|\()",
    re.IGNORECASE,
)
"""What is said of tests before something else is spoken of."""
_SIDE: Final = re.compile(r"(?:once|when|if|as|while|then|after|so|also)\b", re.IGNORECASE)
_STARTS: Final = re.compile(rf"{_BEFORE}{_DO}\b|\b{_NEED}\b.*\b{_CHANGED}\b", re.IGNORECASE)
"""An order, which a list of what is to be changed may follow."""
_FINITE: Final = re.compile(
    r"\b"
    + _any("""
        is are was were be been has have do does did uses? should must will would can may needs? says?
        expects? wants? asks? lives? comes? gives? returns? exists? ensures? (?<!that_)(?<!which_)covers?
        checks? proves?
    """)
    + r"\b|'s\b",
    re.IGNORECASE,
)
"""A verb that makes a sentence whole, so that it is no list."""

_OUT: Final = _any("""
    skip disable mute deactivate exclude park quarantine x-?fail suspend shelve deselect omit bypass
    ignore bench pause suppress (?:turn|switch)_off set_aside comment_out hold_back leave_(?:out|aside)
""")
_LEFT_OUT: Final = _any("""
    skipp(?:ed|ing) disabl(?:ed|ing) muted deactivated excluded parked quarantined x-?failed suspended
    shelved deselected omitted bypassed ignored benched paused suppressed inactive (?:turned|switched)_off
    set_aside commented_out held_back left_out
""")
_SKIP: Final = _any("""
    skip(?:if|s|unless)? x-?fail xdescribe xit todo build_tag build_constraint
    (?:it|test|describe)\\.(?:skip|failing|todo|fails) mark(?:er)?
""")
_WAYS_OUT: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_BEFORE}|\b(?:that|temporarily|only|which|they) ){_OUT}\b.*@",
        rf"@.*\b(?:{_NEED}|be|get)\b.*\b{_LEFT_OUT}\b",
        r"@.*\b(?:should|must|shall|need|do|does|are|is|will|'re)(?: not|n't)\b(?: \w+)? (?:be )?"
        r"(?:run|ran|executed|collected|started)\b",
        r"\b(?:mark|flag|tag|annotat|decorat)\w*\b.*@.*\b"
        r"(?:skip\w*|slow|flaky|x-?fail\w*|unstable|broken|failing|todo|expected)\b",
        rf"\b(?:add|put|use|wrap|guard|give|need|mark|with)\w*\b.*\b{_SKIP}\b.*@",
        rf"\b(?:add|put|use|wrap|guard|give|need|mark)\w*\b.*@.*\b{_SKIP}\b",
        rf"@.*\b(?:need|get|want|require|should have)s?\b.*\b{_SKIP}\b",
        r"\b(?:take|leave|keep|pull)\b.*@.*\bout of \w",
        r"\bleaves?\b.*@.*\bout\b",
        r"@.*(?:→|->) *(?:skip|todo|xfail)\b|\b(?:not run|stop running)\b.*@",
        rf"{_BEFORE}(?:xit|xdescribe)\b.*@|\b(?:make|let|have)\b.*@.*\b(?:skip|be skipped)\b",
        rf"\b(?:like|want)\b.*@.*\b(?:{_LEFT_OUT}|silenced)\b|\bturn\b.*@ into a no-?op\b",
    )
)
"""How a clause orders that tests be left out of a run, or be let fail."""
_SKIP_THEM: Final = re.compile(
    rf"(?:{_BEFORE}|\b(?:have|let|make) (?:\w+ ){{1,2}})"
    rf"(?:{_OUT} (?:it|them|those|these|that one|this one|this|both)\b"
    r"|(?:turn|switch|leave|comment|take|hold) (?:it|them|those|these|both) (?:off|out|back)\b"
    r"|(?:have|let|make) (?:it|them|those|these|both) (?:not run|skip|be skipped)\b"
    r"|add (?:an? )?(?:skip|x-?fail)\b.* to (?:it|them|those|these|both)\b"
    r"|(?:mark|flag|make) (?:it|them|those|these|both) (?:as )?(?:an? )?"
    r"(?:skip\w*|x-?fail\w*|todo|flaky|expected|slow|opt-in)\b)",
    re.IGNORECASE,
)
_NO_SKIP: Final = re.compile(
    r"\b(?:not|never|no|without|instead of|rather than|nor)\b(?: \w+){0,2} "
    rf"(?:{_OUT}|{_LEFT_OUT}|{_SKIP})\b|n't(?: \w+){{0,2}} {_OUT}\b",
    re.IGNORECASE,
)


def without_code(text: str) -> str:
    """A text without blocks of code and rows of tables, which are quoted and order nothing."""
    return _TABLE_ROW.sub("", _FENCE.sub("\n\n", text))


def _sentences(text: str) -> Iterator[str]:
    """A text's sentences, headings and points of lists."""
    for part in _SENTENCE.split(text):
        sentence = " ".join(_BULLET.sub("", part).split())
        if sentence:
            yield sentence


def orders_changes_of_tests(text: str) -> bool:
    """Whether some sentence of a text without code orders that tests, or their expectations, be changed."""
    before, ordered = False, False
    for sentence in _sentences(text):
        clauses, aside = _clauses(sentence)
        ordered = ordered and not any(_FINITE.search(clause) for clause in clauses)
        here, first = False, True
        if any(map(_orders, aside)):
            return True
        for clause in clauses:
            if _orders(clause) or (ordered and _is_listed(clause)):
                return True
            if "@" not in clause and (
                (here and (_points_back(clause) or _orders_by(_WAYS, _THEY.sub("@", clause))))
                or (
                    before
                    and first
                    and (_points_back(clause) or _orders_by(_WAYS, _AFTER_A_STOP.sub("@", clause)))
                )
            ):
                return True
            here = here or ("@" in clause and not _INNOCENT.search(clause))
            first = first and _SIDE.match(clause) is not None
            ordered = ordered or _STARTS.search(clause) is not None
        before = here
    return False


def orders_tests_left_out(text: str) -> bool:
    """Whether some sentence of a text without code orders that tests be skipped, or be let fail."""
    before = False
    for sentence in _sentences(text):
        here = False
        for number, clause in enumerate(itertools.chain(*_clauses(sentence))):
            if _NO_SKIP.search(clause):
                continue
            pointed = here or (before and number == 0)
            said = clause
            if pointed and "@" not in clause:
                said = (_THEY if here else _AFTER_A_STOP).sub("@", clause)
            if any(way.search(said) for way in _WAYS_OUT) or (
                ("@" in clause or pointed) and _SKIP_THEM.search(clause)
            ):
                return True
            here = here or "@" in clause
        before = here
    return False


def _clauses(sentence: str) -> tuple[list[str], list[str]]:
    """A sentence in clauses, with `@` for what tests are made of, and those of what it has in brackets."""
    marked = _TESTS.sub("@", _FORGET.sub("update", sentence.replace("@", " ")))
    return _parted(_ASIDE.sub(" ", marked)), [
        part for aside in _ASIDE.findall(marked) for part in _parted(aside)
    ]


def _parted(text: str) -> list[str]:
    parts = (" ".join(part.split()).strip(" `'\"*.!?()") for part in _CLAUSE.split(text))
    return [part[:_MAX_CLAUSE] for part in parts if part]


def _orders(clause: str) -> bool:
    return _orders_by(_WAYS, clause) or _orders_by((_HAVE_TO,), clause)


def _orders_by(ways: Sequence[re.Pattern[str]], clause: str) -> bool:
    return "@" in clause and not _NOTHING_OF_IT.search(clause) and any(way.search(clause) for way in ways)


def _points_back(clause: str) -> bool:
    return _THEM.search(clause) is not None and not _NOTHING_OF_IT.search(clause)


def _is_listed(clause: str) -> bool:
    """Whether a clause goes on with a list of what is to be changed."""
    return "@" in clause and not (
        clause.startswith("@ for ") or _NOTHING_OF_IT.search(clause) or _FINITE.search(clause)
    )
