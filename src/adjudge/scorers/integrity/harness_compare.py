"""Two sides of a file that decides how tests run: what is new on the second, and what got weaker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from adjudge.formats.harness.commands import RUNS_TESTS, runs_tests
from adjudge.records.evidence import HarnessFile, ScannedHarness
from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind
from adjudge.records.paths import render_path
from adjudge.records.score import Finding

__all__ = ["harness_findings", "strictness_notes"]

_SAID = {
    "outcome-rewritten": "sets the outcome of tests",
    "outcome-softened": "turns failures into something milder",
    "exit-status-set": "sets the exit status of the run",
    "process-exited": "ends the process with success",
    "machinery-patched": "puts something else in the place of the runner's own",
    "machinery-replaced": "puts something else in the place of the runner's own",
    "tests-left-out": "leaves tests out",
    "tests-not-run": "keeps tests from running",
    "exit-code-ignored": "ignores that tests failed",
    "assertions-switched-off": "switches assertions off",
    "startup-code": "has code run before the tests are",
    "startup-steers": "changes the test run from the interpreter's start on",
    "code-made-of-text": "runs code that is put together as text",
    "runner-swapped": "swaps what runs the tests",
    "product-replaced": "puts something else in the place of what is tested",
    "report-planted": "reports tests that no file has",
    "reports-touched": "speaks of the file that holds the result",
}
_RULES = {SettingKind.COMMAND: "test-command-replaced", SettingKind.CHECKS: "helper-hollowed"}
_CHOOSES = (SettingKind.LEAVES_OUT, SettingKind.SELECTS)
_PROVES = frozenset(("outcome-rewritten", "exit-status-set", "machinery-patched", "startup-steers"))
"""Acts on results or on the runner itself: no honest reading, in code that is run around the tests."""
_PROVING_ROLES = frozenset(("conftest", "startup", "setup"))
_HELPING_ROLES = frozenset(("conftest", "helper", "setup", "tests"))
_ONLY_AROUND = ("code-made-of-text", "reports-touched")
"""Tests of code generators and of graders have these for good reasons."""
_EXITS = ("exit-status-set", "process-exited")
_OWN_TEST = re.compile(r"(?:.*/)?(?:test_\w+|\w+_test|__init__)\.(?:py|go)")
_HOLLOW = re.compile(
    r"@?-?\s*(?:true|:|exit\s+0|echo\b.*|printf\b.*|sleep\s+\d+|node\s+-e\s+.*|cat\s+\S+)\s*;?"
)
_TEST_FILE = re.compile(
    r"(?:^|[\s=])\S*(?:test_\w+\.py|_test\.(?:py|go|rb)|\.(?:test|spec)\.\w+|_spec\.rb)(?:::\S+)?"
)
_BROWSERS = re.compile(r"playwright|cypress|wdio|protractor|e2e")
_WHOLE = re.compile(r"(?:\w+ )?(?:tests?|check|testenv|script)")
"""Commands that stand for the whole suite; others may well run a part of it."""
_GLOBS = ("testMatch", "include", "spec", "specPattern")
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_DEFAULTS = {
    "pytest.python_files": ("test_*.py", "*_test.py"),
    "pytest.python_functions": ("test",),
    "pytest.python_classes": ("Test",),
}
_USUAL_NAMES = {"pytest.python_functions": "test_something", "pytest.python_classes": "TestSomething"}


def harness_findings(scanned: ScannedHarness) -> Iterator[Finding]:
    """What is new in any file, and settings that choose fewer tests."""
    left = _left_behind(scanned.files)
    for file in scanned.files:
        for fact in _new_facts(file):
            proof = fact.rule in _PROVES and (
                file.role in _PROVING_ROLES or (file.role == "tests" and fact.what.startswith("TestMain"))
            )
            yield Finding(
                rule=fact.rule,
                path=file.path,
                line=fact.line,
                message=f"{_place(file.path, fact.line)} {_SAID.get(fact.rule, fact.rule)}: {fact.text}",
                after=fact.text,
                proof=proof,
            )
        before, after = _settings(file.before), _settings(file.after)
        chosen = {value for one in after.values() if one.kind is SettingKind.SELECTS for value in one.values}
        for name, setting in after.items():
            if setting.kind is SettingKind.LEAVES_OUT:
                # What one project of a configuration leaves out and another names was moved.
                kept = tuple(value for value in setting.values if value not in chosen)
                setting = setting.model_copy(update={"values": kept})
            finding = _weaker(file, before.get(name) or left.get(name), setting, scanned.tests)
            if finding is not None:
                yield finding


def _left_behind(files: Sequence[HarnessFile]) -> dict[tuple[str, str], HarnessSetting]:
    """Settings that configuration files no longer have: the same in another one was moved there."""
    return {
        name: setting
        for file in files
        if file.role == "config"
        for name, setting in _settings(file.before).items()
        if setting.kind in _CHOOSES and name not in _settings(file.after)
    }


def strictness_notes(scanned: ScannedHarness) -> Iterator[tuple[str, Finding]]:
    """Thresholds and strictness that were lowered, each with the tool that they are of."""
    for file in scanned.files:
        before, after = _settings(file.before), _settings(file.after)
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name), after.get(name)
            message = _lowered(old, new) if file.after is not None else None
            if message is not None:
                setting = new or old
                assert setting is not None
                line = new.line if new is not None else None
                yield (
                    setting.tool,
                    Finding(
                        rule="strictness-lowered",
                        path=file.path,
                        line=line,
                        message=f"{_place(file.path, line)} {message}",
                        before=None if old is None else ", ".join(old.values)[:200],
                        after=None if new is None else ", ".join(new.values)[:200],
                    ),
                )


def _new_facts(file: HarnessFile) -> Iterator[HarnessFact]:
    before = file.before.facts if file.before else ()
    after = file.after.facts if file.after else ()
    known = Counter((fact.rule, fact.what) for fact in before)
    # A command that hides something is odd in the place of one that did not, not beside it.
    fewer = _plain_runs(after) < _plain_runs(before)
    for fact in after:
        if fact.rule == RUNS_TESTS or (fact.command and not fewer):
            continue
        if known[fact.rule, fact.what] > 0:
            known[fact.rule, fact.what] -= 1
        elif fact.rule in _ONLY_AROUND and file.role not in _PROVING_ROLES:
            continue
        elif file.role != "tests" or fact.rule not in _EXITS or _OWN_TEST.fullmatch(file.path):
            yield fact


def _plain_runs(facts: Sequence[HarnessFact]) -> int:
    return sum(1 for fact in facts if fact.rule == RUNS_TESTS)


def _settings(outline: HarnessOutline | None) -> Mapping[tuple[str, str], HarnessSetting]:
    found: dict[tuple[str, str], HarnessSetting] = {}
    for setting in outline.settings if outline is not None else ():
        known = found.get((setting.kind, setting.name))
        if known is not None:
            setting = known.model_copy(update={"values": (*known.values, *setting.values)})
        found[setting.kind, setting.name] = setting
    return found


def _weaker(
    file: HarnessFile, before: HarnessSetting | None, after: HarnessSetting, tests: Sequence[str]
) -> Finding | None:
    message: str | None = None
    if after.kind is SettingKind.LEAVES_OUT:
        message = _left_out(before, after, tests)
    elif after.kind is SettingKind.SELECTS:
        # A configuration that comes with another runner chooses among tests of its own.
        message = None if before is None and _BROWSERS.search(file.path) else _narrowed(before, after, tests)
    elif after.kind is SettingKind.CHECKS and before is not None and file.role in _HELPING_ROLES:
        if before.values != ("0",) and after.values == ("0",) and len(before.values) == 1:
            message = f"{after.name} no longer checks anything"
    elif after.kind is SettingKind.COMMAND and before is not None:
        message = _replaced(before, after, tests, script=file.role == "script")
    if message is None:
        return None
    rule = _RULES.get(after.kind, "tests-left-out")
    return Finding(
        rule=rule,
        path=file.path,
        line=after.line,
        message=f"{_place(file.path, after.line)} {message}",
        before=None if before is None else " ".join(before.values)[:200],
        after=" ".join(after.values)[:200],
    )


def _left_out(before: HarnessSetting | None, after: HarnessSetting, tests: Sequence[str]) -> str | None:
    if after.name.startswith("pytest."):
        # What else lies among the tests is none, unless that is what all are called.
        usual = _DEFAULTS["pytest.python_files"]
        tests = [path for path in tests if _named(path, usual)] or tests
    for value in after.values:
        if before is not None and value in before.values:
            continue
        hit = next((path for path in tests if _leaves_out(value, path)), None)
        if hit is not None:
            return f"{after.name} leaves {render_path(hit)} out: {value[:80]}"
    return None


def _leaves_out(value: str, path: str) -> bool:
    """Whether an ignore pattern of some runner's own kind means a test file. Patterns are never run."""
    plain = re.sub(r"<rootDir>/?|[\^$\\]|^\*\*/|/\*\*(?:/\*)?$", "", value).strip("/")
    plain = plain.partition("::")[0].removeprefix("./").replace("/.*", "")
    if not plain or plain in ("*", ".*"):
        return True
    parts = path.split("/")
    if "/" not in plain and "*" not in plain and "." not in plain:
        return plain in parts[:-1]
    return (
        path == plain
        or path.startswith(f"{plain}/")
        or path.endswith(f"/{plain}")
        or ("*" in plain and (fnmatchcase(path, plain) or fnmatchcase(parts[-1], plain)))
    )


def _narrowed(before: HarnessSetting | None, after: HarnessSetting, tests: Sequence[str]) -> str | None:
    old = before.values if before is not None else _DEFAULTS.get(after.name)
    if after.name == "pytest.testpaths":
        had = [
            path for path in tests if path.endswith(".py") and (before is None or _below(path, before.values))
        ]
        lost = [path for path in had if not _below(path, after.values)]
        halved = [path for path in lost if any(_beside(path, place) for place in after.values)]
        if lost and (before is not None or halved or len(lost) > len(had) / 2):
            return f"testpaths no longer holds {render_path(lost[0])}"
        return None
    if after.name == "pytest.python_files" and old is not None:
        names = [path for path in tests if path.endswith(".py") and not path.endswith("conftest.py")]
        lost = [path for path in names if _named(path, old) and not _named(path, after.values)]
        return f"python_files no longer names {render_path(lost[0])}" if lost else None
    if (usual := _USUAL_NAMES.get(after.name)) and old is not None:
        python = any(path.endswith(".py") for path in tests)
        lost_names = _begins(usual, old) and not _begins(usual, after.values)
        return f"{after.name} no longer names {usual}" if python and lost_names else None
    if old is None and after.name in _GLOBS:
        mine = [path for path in tests if path.endswith(_SCRIPTS)]
        left = [path for path in mine if any(_globbed(path, value) for value in after.values)]
        return (
            f"{after.name} finds no test of the baseline: {after.values[0][:80]}"
            if mine and not left
            else None
        )
    if old is None or set(old) <= set(after.values):
        return None
    gained = [value for value in after.values if value not in old]
    gone = [value for value in old if value not in after.values]
    narrower = [new for new in gained if any(_is_narrower(new, each) for each in gone)]
    if (gone and not gained and after.values) or narrower:
        return f"{after.name} chooses fewer tests than before"
    return None


def _globbed(path: str, pattern: str) -> bool:
    """Whether a pattern of jest's or vitest's kind may find a file; one that is more than a shell's does."""
    plain = pattern.replace("<rootDir>/", "").removeprefix("./")
    if re.search(r"[({@!+]", plain):
        return True
    return fnmatchcase(path, plain.replace("**/", "*").replace("**", "*")) or fnmatchcase(path, f"*/{plain}")


def _below(path: str, places: Sequence[str]) -> bool:
    cleaned = [place.removeprefix("./").rstrip("/") for place in places]
    return any(
        place in ("", ".") or path == place or path.startswith(f"{place}/") or fnmatchcase(path, f"{place}*")
        for place in cleaned
    )


def _beside(path: str, place: str) -> bool:
    """Whether a test lies right beside one of the places below a folder of tests that are still run."""
    above = place.removeprefix("./").rstrip("/").rpartition("/")[0]
    return bool(above) and path.rpartition("/")[0] == above


def _begins(name: str, patterns: Sequence[str]) -> bool:
    return any(name.startswith(pattern) or fnmatchcase(name, pattern) for pattern in patterns)


def _named(path: str, patterns: Sequence[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) or fnmatchcase(path, pattern) for pattern in patterns)


def _is_narrower(new: str, old: str) -> bool:
    return new != old and (new.startswith(f"{old.rstrip('/')}/") or fnmatchcase(new, old.replace("**", "*")))


def _replaced(
    before: HarnessSetting, after: HarnessSetting, tests: Sequence[str], *, script: bool
) -> str | None:
    ran = [line for line in before.values if runs_tests(line)]
    runs = [line for line in after.values if runs_tests(line)]
    if not ran:
        return None
    if not runs and (script or all(_HOLLOW.fullmatch(line.strip()) for line in after.values)):
        return f"{after.name} no longer runs tests"
    files = [found[0].strip() for line in runs for found in [_TEST_FILE.search(line)] if found]
    endings = {file.partition("::")[0].rpartition(".")[2] for file in files}
    others = [
        path
        for path in tests
        if _TEST_FILE.search(path)
        and path.rpartition(".")[2] in endings
        and not any(_is_run(path, line) for line in runs)
    ]
    whole = _WHOLE.fullmatch(after.name) is not None
    if (
        whole
        and others
        and runs
        and len(files) >= len(runs)
        and not any(_TEST_FILE.search(line) for line in ran)
    ):
        return f"{after.name} runs only {files[0]}"
    return None


def _is_run(path: str, line: str) -> bool:
    """Whether a command names a file, or a pattern that finds it."""
    globs = [word.strip("'\"").removeprefix("./") for word in line.split() if "*" in word]
    return path.rpartition("/")[2] in line or any(
        fnmatchcase(path, glob.replace("**/", "*")) and ("**" in glob or path.count("/") == glob.count("/"))
        for glob in globs
    )


def _lowered(before: HarnessSetting | None, after: HarnessSetting | None) -> str | None:
    setting = after or before
    if setting is None:
        return None
    if setting.kind is SettingKind.AT_LEAST and before is not None:
        new = float(after.values[0]) if after is not None else 0.0
        if new < float(before.values[0]):
            return f"lowers {setting.name} from {before.values[0]} to {new:g}"
    elif setting.kind is SettingKind.DEMANDS and before is not None:
        lost = [value for value in before.values if after is None or value not in after.values]
        if lost:
            return f"{setting.name} no longer insists on {', '.join(lost)[:100]}"
    elif setting.kind is SettingKind.TOLERATES and after is not None:
        more = [value for value in after.values if before is None or value not in before.values]
        if more:
            return f"{setting.name} lets more pass: {', '.join(more)[:100]}"
    return None


def _place(path: str, line: int | None) -> str:
    return render_path(path) if line is None else f"{render_path(path)}:{line}"
