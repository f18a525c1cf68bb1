"""The collector of `HarnessScan`: both sides of whatever decides how tests run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.errors import ReportUnreadable, WorkspaceUnreadable
from adjudge.evidence.harness_loaded import LoadedFiles
from adjudge.evidence.harness_product import without_idle_patches
from adjudge.evidence.outlining import Outliner, OutlineUnavailable, outlining
from adjudge.formats.harness.commands import one_line
from adjudge.formats.harness.outline import MAX_CONFIG_BYTES, outline_config, reads_config
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.testreports.detect import parse_report
from adjudge.records.change import ChangeKind, EntryType, FileChange
from adjudge.records.evidence import HarnessFile, HarnessScan, ScannedHarness
from adjudge.records.harness import HarnessFact, HarnessOutline, SettingKind
from adjudge.records.testreport import TestOutcome
from adjudge.syntax.grammars import grammar_of
from adjudge.syntax.harness.outline import may_steer_tests
from adjudge.syntax.languages import default_test_globs, is_third_party

__all__ = ["HarnessScanCollector", "commands_of", "harness_role"]

_MAX_TOTAL_BYTES = 8 * 1024 * 1024
_MAX_TESTS = 5000
_STARTUP = re.compile(r"(?:.*/)?(?:sitecustomize|usercustomize)(?:/__init__)?\.py|(?:.*/)?[^/]+\.pth")
_PYTHON_SCRIPT = re.compile(
    r"(?:.*/)?(?:noxfile|tasks|setup|run_?tests?|runtests|test_?runner|dodo|fabfile|manage)\.py"
)
_JAVASCRIPT = re.compile(
    r"""(?:.*/)?(?:
        (?:jest|vitest|vite|karma|ava|playwright|cypress|mocha|tap|wdio|protractor|\.mocharc|babel-jest)
            [\w.-]*\.(?:[cm]?[jt]s)
      | (?:jest|vitest|test|tests|mocha)[.-]?
            (?:setup|environment|reporter|runner|preset|helpers?|hooks|bootstrap)[\w.-]*\.(?:[cm]?[jt]sx?)
      | setup-?_?[tT]ests?[\w.-]*\.(?:[cm]?[jt]sx?)
      | [\w.-]*(?:-|\.)?(?:reporter|test-?environment|results?-?processor)[\w.-]*\.(?:[cm]?[jt]s)
      | (?:globalSetup|globalTeardown|global-setup|global-teardown)\.(?:[cm]?[jt]s)
      | (?:tests?|__tests__|spec)/(?:.+/)?
            (?:setup|helpers?|bootstrap|hooks|globals?|preload|register|env|init)[\w.-]*\.(?:[cm]?[jt]sx?)
      | \.?(?:setup|preload|register)[\w.-]*\.[cm]?js
    )""",
    re.VERBOSE,
)
_SUPPORT = re.compile(r"(?:support|helpers?|testing|testkit|harness)/.+\.[cm]?[jt]sx?")
"""Folders beside those of tests; what lies in them is judged by what it does to a run."""
_GO_HELPER = re.compile(
    r"(?:^|/)\w*test(?:util|ing|help\w*|support|kit|s)?\w*/[^/]+\.go$|(?:^|/)\w*test\w*(?<!_test)\.go$"
)
_TESTS = PathPatterns(default_test_globs())
_ASIDE = re.compile(r"(?:examples?|docs?|bench\w*|samples?|demos?|tutorials?)/")
"""Tests of what is shown beside a product are left out of its own suite every day."""
_PLUGIN = re.compile(rb"^\s*(?:async\s+)?def pytest_\w+\s*\(", re.MULTILINE)
_PATCHES_CHECKS = re.compile(
    rb"(?:[aA]ssert|Assertion|expect|TestResult)[\w.]*\s*=(?![=>])|expect\.extend|defineProperty|Reflect\.set"
)
_STEERS = re.compile(r"pytest|unittest|_exit\b|meta_path|path_hooks|settrace|AssertionError|TestCase")
_COMMAND_FIELDS = ("command", "cmd")
_REPORT = re.compile(
    r"(?:(?:reports?|test-?results?|test-?reports?|junit|build|target|out|coverage|artifacts|logs|surefire-reports"
    r"|test-results/[\w-]+)/)*"
    r"(?:[\w.-]*junit[\w.-]*|(?:test[-_]?)?(?:report|results?|output)s?|TEST-[\w.-]+|xunit|nosetests|rspec)\.xml"
)
"""Where runners leave their reports. Data of tests lies elsewhere."""
_MAX_CASES = 200
_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>\w+)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w{2,}")


class HarnessScanCollector:
    """Reads both sides of the files in question; code is parsed in a process of its own."""

    kind: ClassVar[str] = "harness_scan"
    cost: ClassVar[int] = 1

    def __init__(self, outliner: Outliner | None = None) -> None:
        self._outliner = outliner

    async def collect(self, request: HarnessScan, subject: Subject) -> ScannedHarness:
        """Scan every changed file that decides how tests run."""
        commands = commands_of(subject)
        files: list[HarnessFile] = []
        unscanned: list[str] = []
        budget = _MAX_TOTAL_BYTES
        loaded = LoadedFiles(subject)
        with outlining(self._outliner) as outliner:
            for change in subject.change_set.changes:
                role = harness_role(change, commands, loaded)
                if role is None:
                    continue
                if budget <= 0:
                    unscanned.append(change.path)
                    continue
                try:
                    scanned, read = _scan(change, role, subject, outliner)
                except WorkspaceUnreadable:
                    unscanned.append(change.path)
                    continue
                budget -= read
                if scanned is not None:
                    files.append(scanned)
        files = [_without_idle_marks(without_idle_patches(file, subject), subject) for file in files]
        tests = tuple(islice(_tests(subject), _MAX_TESTS)) if any(map(_chooses, files)) else ()
        return ScannedHarness(
            files=tuple(files), tests=tests, commands=commands, unscanned=tuple(unscanned[:100])
        )


def commands_of(subject: Subject) -> tuple[str, ...]:
    """The commands that the recipe runs, as written."""
    found = [
        value
        for spec in subject.task.scenario.recipe.scorers
        for field in _COMMAND_FIELDS
        if isinstance(value := spec.config.get(field), str)
    ]
    return tuple(dict.fromkeys(found))


def harness_role(
    change: FileChange, commands: tuple[str, ...] = (), loaded: LoadedFiles | None = None
) -> str | None:
    """What a changed file is to a test run, by its name and type; None when it is nothing to it.

    Args:
        change: The change.
        commands: The commands of the recipe; what one of them names is a script.
        loaded: What settings of the workspace have loaded.
    """
    if EntryType.FILE not in (change.old_type, change.new_type):
        return None
    for path in dict.fromkeys((change.path, change.old_path or change.path)):
        if _REPORT.fullmatch(path) and change.kind is ChangeKind.ADDED:
            return "report"
        if is_third_party(path):
            continue
        name = path.rpartition("/")[2]
        if name == "conftest.py":
            return "conftest"
        if _STARTUP.fullmatch(path):
            return "startup"
        if any(_names(path, command) for command in commands):
            return "script"
        if reads_config(path):
            return "config"
        if _PYTHON_SCRIPT.fullmatch(path):
            return "script"
        if _JAVASCRIPT.fullmatch(path):
            return "setup"
        if loaded is not None and (role := loaded.role(path)) is not None:
            return role
        if _SUPPORT.fullmatch(path):
            return "setup"
        if _GO_HELPER.search(path):
            return "helper"
        if path in _TESTS:
            return (
                "tests" if path.endswith((".py", "_test.go")) or _is_javascript_test(path, "tests") else None
            )
        if path.endswith(".py") and not change.litter:
            return "plugin"
    return None


def _is_javascript_test(path: str, role: str) -> bool:
    grammar = grammar_of(path) if role == "tests" else None
    return grammar is not None and grammar.name in ("javascript", "typescript", "tsx")


def _names(path: str, command: str) -> bool:
    """Whether a command names a file as a word of its own."""
    return re.search(rf"(?:^|[\s\"'=;&|(])(?:\./)?{re.escape(path)}(?=$|[\s\"';&|)])", command) is not None


def _scan(
    change: FileChange, role: str, subject: Subject, outliner: Outliner
) -> tuple[HarnessFile | None, int]:
    sides: list[HarnessOutline | None] = []
    contents = subject.contents
    read = 0
    for path, kind, get in (
        (change.old_path or change.path, change.old_type, contents.old),
        (change.path, change.new_type, contents.new),
    ):
        if kind is not EntryType.FILE or (kind is change.new_type and change.unreadable):
            sides.append(None)
            continue
        data = get(change, max_bytes=MAX_CONFIG_BYTES + 1)
        read += len(data)
        if role == "report":
            sides.append(_report(path, data, subject))
            continue
        needed = _PATCHES_CHECKS if _is_javascript_test(path, role) else _PLUGIN if role == "plugin" else None
        if needed is not None and needed.search(data) is None:
            sides.append(HarnessOutline())
            continue
        sides.append(_outline(path, data, role, outliner))
    if not any(sides):
        return None, read
    empty = HarnessOutline()
    if role in ("plugin", "tests", "helper", "report") and all(
        side is None or side == empty for side in sides
    ):
        return None, read
    return HarnessFile(path=change.path, role=role, before=sides[0], after=sides[1]), read


def _report(path: str, data: bytes, subject: Subject) -> HarnessOutline:
    """A report that was left behind: odd when it tells of tests that are written down nowhere."""
    try:
        cases = parse_report(data, filename=path).cases[:_MAX_CASES]
    except ReportUnreadable:
        return HarnessOutline()
    names = [set(_WORD.findall(case.id.rpartition("::")[2].partition("[")[0])) for case in cases]
    wanted = [words for words in names if words]
    if not wanted or any(outcome.outcome is not TestOutcome.PASSED for outcome in cases):
        return HarnessOutline()
    budget = _MAX_TOTAL_BYTES
    for place, entry in subject.contents.walk():
        if entry.type is not EntryType.FILE or is_third_party(place):
            continue
        if place not in _TESTS and grammar_of(place) is None:
            continue
        text = (subject.contents.read(place, max_bytes=MAX_CONFIG_BYTES) or b"").decode("utf-8", "replace")
        budget -= len(text)
        known = set(_WORD.findall(text))
        if budget <= 0 or any(words <= known for words in wanted):
            return HarnessOutline()
    shown = cases[0].id[:160]
    fact = HarnessFact(rule="report-planted", what=shown, text=one_line(shown), line=None)
    return HarnessOutline(facts=(fact,))


def _outline(path: str, data: bytes, role: str, outliner: Outliner) -> HarnessOutline:
    if path.endswith(".pth"):
        return _path_file(data)
    found = outline_config(path, data, script=role == "script" and not path.endswith((".py", ".js", ".ts")))
    if found is not None:
        return found
    if role not in ("conftest", "startup") and not may_steer_tests(path, data):
        return HarnessOutline()
    try:
        outline = outliner.outline_harness(path, data) or HarnessOutline()
    except OutlineUnavailable as error:
        return HarnessOutline(problem=str(error))
    if _is_javascript_test(path, role):
        # Tests put doubles in the place of much, and take them away again; of what checks, none is needed.
        patched = tuple(fact for fact in outline.facts if fact.rule == "machinery-patched")
        return HarnessOutline(facts=patched)
    return _with_start(outline, data) if role == "startup" else outline


def _with_start(outline: HarnessOutline, data: bytes) -> HarnessOutline:
    """A start-up file with what in it reaches into test runs."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if _STEERS.search(line.replace("pytest_cov", "")) and not line.lstrip().startswith("#"):
            fact = HarnessFact(
                rule="startup-steers", what=line.strip()[:160], text=one_line(line), line=number
            )
            return outline.model_copy(update={"facts": (*outline.facts, fact)})
    return outline


def _path_file(data: bytes) -> HarnessOutline:
    """A .pth file: its lines that begin with `import` are run when the interpreter starts."""
    lines = data.decode("utf-8", "replace").splitlines()
    return HarnessOutline(
        facts=tuple(
            HarnessFact(rule="startup-code", what=line.strip()[:160], text=one_line(line), line=number)
            for number, line in enumerate(lines, 1)
            if re.match(r"import\s", line)
        )
    )


def _chooses(file: HarnessFile) -> bool:
    """Whether a file has settings that choose among tests."""
    return file.after is not None and any(
        setting.kind in (SettingKind.LEAVES_OUT, SettingKind.SELECTS, SettingKind.COMMAND)
        for setting in file.after.settings
    )


def _without_idle_marks(file: HarnessFile, subject: Subject) -> HarnessFile:
    """A file without choices by a mark (`-m "not slow"`) that no test file of the baseline carries."""
    if file.after is None or not any(fact.what.startswith("-m ") for fact in file.after.facts):
        return file
    kept = tuple(
        fact for fact in file.after.facts if not fact.what.startswith("-m ") or _carried(fact.what, subject)
    )
    return file.model_copy(update={"after": file.after.model_copy(update={"facts": kept})})


def _carried(choice: str, subject: Subject) -> bool:
    """Whether a test of the baseline has one of the marks of a choice: it had it, or has it now."""
    names = [name for name in re.findall(r"\w+", choice[3:]) if name not in ("not", "and", "or")]
    marks = re.compile(rb"\bmark\.(?:%b)\b" % b"|".join(re.escape(name.encode()) for name in names))
    budget = _MAX_TOTAL_BYTES
    was = {
        change.path: subject.contents.old(change, max_bytes=MAX_CONFIG_BYTES)
        for change in subject.change_set.changes
        if change.path in _TESTS and not is_third_party(change.path)
    }
    known = {found["name"] for data in was.values() for found in _DEFINED.finditer(data)}
    for path in dict.fromkeys((*islice(_tests(subject), _MAX_TESTS), *was)):
        data = subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b""
        budget -= len(data)
        if not names or budget <= 0 or marks.search(was.get(path, data)):
            return True
        if path in was and any(known & _marked_by(mark, data) for mark in marks.finditer(data)):
            return True
    return False


def _marked_by(mark: re.Match[bytes], data: bytes) -> set[bytes]:
    """The functions and classes that a mark may stand on: what it decorates, or anything in its file."""
    line = data[data.rfind(b"\n", 0, mark.start()) + 1 : mark.start()]
    decorated = _DEFINED.search(data, mark.end()) if line.lstrip().startswith(b"@") else None
    if decorated is None or decorated["kind"] == b"class":
        return {found["name"] for found in _DEFINED.finditer(data, decorated.start() if decorated else 0)}
    return {decorated["name"]}


def _tests(subject: Subject) -> Iterator[str]:
    """Test files that the baseline had and nobody deleted."""
    added = {change.path for change in subject.change_set.changes if change.kind is ChangeKind.ADDED}
    for path, entry in subject.contents.walk():
        if entry.type is not EntryType.FILE or path in added or _ASIDE.match(path):
            continue
        if path in _TESTS and not is_third_party(path):
            yield path
