"""`implemented`: the attempt wrote something real, and left no stub in what it was to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field, JsonValue

from adjudge.contracts import Evidence
from adjudge.formats.patterns import ExactPath
from adjudge.records.evidence import AnyRequest, ScannedFile, SourceScan
from adjudge.records.paths import parse_path, render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.records.source import BodyKind, FunctionShape, SourceOutline
from adjudge.scorers.wording import counted, first_findings

__all__ = ["Implemented"]

_STUBS = (BodyKind.EXPLICIT, BodyKind.EMPTY)
_MODULE_CODE = "the code outside of functions"


class Implemented:
    """The attempt wrote something real, and left no stub where it was to write.

    Measures:
        Written: functions that do something and are new or changed, and changed code outside of functions;
        comments, docstrings and white space do not count. Left: stubs among the functions that the attempt
        added or changed, functions that were stubs in the baseline and still are one, and listed files that
        are missing or no longer parse. The score is written / (written + left), and 0 when nothing was
        written. Use it as a gate: `gate: true`.

        A stub says that it is not implemented (`raise NotImplementedError`, `todo!()`, `panic("not
        implemented")`, `throw new Error("not implemented")`, …), or is empty (`pass`, `...`, a docstring,
        `return None`). Returning one constant, or only raising, counts where the baseline had a stub in the
        same place. Dead code, `if False`, unused locals and other names for the exception change nothing.
        Abstract methods, protocols, overloads, interfaces, methods that a class in the same file overrides,
        and files of declarations are not stubs. Python, JavaScript, TypeScript, Go, Java, Rust and Ruby are
        looked into; a change to source in another language counts as written.

        Without `files`, the source files that the attempt changed are looked at, tests left out. In them a
        method that was a stub before and was not touched is taken for one to be overridden; name the file to
        have it count. Untouched files are not looked at: a stub in them need not be anybody's task.

    Evidence:
        The outline of each file before and after: every function and what its body amounts to. The details
        have `written` and `left`, by name.

    How it is fooled:
        By code that does something useless: a loop that adds up numbers, a call to another function, a
        constant for each input that a test uses. It asks whether there is an implementation, not whether it
        is right; that is for tests.

    Example:
        ```yaml
        graders:
          - {type: implemented, gate: true}
          - {type: implemented, gate: true, files: ["stack.py"]}
        ```
    """

    name: ClassVar[str] = "implemented"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `implemented`."""

        files: tuple[ExactPath, ...] = Field(default=(), max_length=1_000)
        """The files to look at, relative to the workspace; each must be there. None: those that changed."""
        allow: tuple[str, ...] = Field(default=(), max_length=1_000)
        """Functions that may stay as they are, by name: `close` or `Stack.close`."""
        pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
        """The score from which on it is a PASS. As a gate it has to be 1 all the same."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The files, before and after."""
        return (_request(config),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """What was written, against what was left."""
        scanned = evidence[_request(config)]
        written: list[str] = []
        left: list[Finding] = []
        for file in scanned.files:
            written += [f"{render_path(file.path)}: {name}" for name in _written(file)]
            left += _left(file, listed=bool(config.files), allowed=frozenset(config.allow))
        details: dict[str, JsonValue] = {
            "written": [*written[:100]],
            "left": [finding.message for finding in left[:100]],
            "not_looked_into": [render_path(path) for path in scanned.unscanned[:100]],
        }
        if not written:
            nothing = "nothing real was written" + (f", and {counted(len(left), 'gap')} left" if left else "")
            rule = Finding(rule="nothing-written", message=_where_nothing(config))
            return ScorerOutcome.failed(nothing, findings=first_findings([*left, rule]), details=details)
        score = len(written) / (len(written) + len(left))
        what = counted(len(written), "real change")
        reason = f"{what}, {counted(len(left), 'gap')} left" if left else f"{what}, no stub left"
        return ScorerOutcome.fraction(
            score, config.pass_threshold, reason, findings=first_findings(left), details=details
        )


def _request(config: Implemented.Config) -> SourceScan:
    return SourceScan(files=tuple(parse_path(path) for path in config.files))


def _where_nothing(config: Implemented.Config) -> str:
    if config.files:
        return (
            f"no function or statement in {', '.join(config.files[:5])} is new or changed and does something"
        )
    return "no function or statement outside of the tests is new or changed and does something"


def _by_name(outline: SourceOutline | None) -> dict[str, list[FunctionShape]]:
    named: dict[str, list[FunctionShape]] = {}
    for function in outline.functions if outline is not None else ():
        named.setdefault(function.name, []).append(function)
    return named


def _written(file: ScannedFile) -> Iterator[str]:
    """What is new or changed in a file, and does something."""
    if not file.present or not file.changed:
        return
    if file.after is None:
        # Another language, or too large: what changed cannot be judged.
        yield "changed, not looked into"
        return
    before = _by_name(file.before)
    codes = {function.code for functions in before.values() for function in functions}
    for function in file.after.functions:
        if function.code in codes or function.kind in _STUBS:
            continue
        # A constant is right for some functions; where a stub was, it is among what is left.
        if function.kind is BodyKind.REAL or not _was_stub(function, before):
            yield function.name
    known = set(file.before.statements) if file.before is not None else set()
    if any(statement not in known for statement in file.after.statements):
        yield _MODULE_CODE


def _left(file: ScannedFile, *, listed: bool, allowed: frozenset[str]) -> Iterator[Finding]:
    """What still is a stub in a file, or keeps it from being an implementation."""
    shown = render_path(file.path)
    if not file.present:
        if listed:
            yield Finding(
                rule="file-missing", path=file.path, message=f"{shown}: {file.note or 'nothing is there'}"
            )
        return
    if file.after is None:
        return
    broken = file.after.error_line
    if broken is not None and file.changed and (file.before is None or file.before.error_line is None):
        yield Finding(
            rule="source-unparseable", path=file.path, line=broken, message=f"{shown} does not parse"
        )
    before = _by_name(file.before)
    for function in file.after.functions:
        if function.abstract or function.name in allowed or function.name.rpartition(".")[2] in allowed:
            continue
        if _is_left(function, before, listed=listed):
            yield Finding(
                rule="stub-left",
                path=file.path,
                line=function.line,
                message=f"{function.name} {function.why}",
            )


def _is_left(function: FunctionShape, before: dict[str, list[FunctionShape]], *, listed: bool) -> bool:
    if function.kind is BodyKind.REAL:
        return False
    earlier = before.get(function.name, [])
    untouched = any(other.code == function.code for other in earlier)
    if untouched:
        return function.kind in _STUBS and (listed or not function.method)
    if function.kind is BodyKind.EXPLICIT:
        return True
    return _was_stub(function, before)


def _was_stub(function: FunctionShape, before: dict[str, list[FunctionShape]]) -> bool:
    """Whether the baseline had a function of this name that was no work either."""
    return any(
        other.kind is not BodyKind.REAL and not other.abstract for other in before.get(function.name, [])
    )
