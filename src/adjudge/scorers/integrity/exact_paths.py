"""What happened to a list of exact paths; shared by `tests_unmodified` and `baseline_unmodified`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adjudge.contracts import Evidence
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import AnyRequest, ParsedChange, PathState
from adjudge.records.paths import parse_path, render_path
from adjudge.records.score import Finding, ScorerOutcome
from adjudge.scorers.wording import counted, first_changed_line, first_findings, happened_to

__all__ = ["evidence_on", "judge_unmodified"]


def evidence_on(paths: Sequence[str]) -> Sequence[AnyRequest]:
    """The change set, and what lies at each path now: a misspelt one would protect nothing, unseen."""
    return (ParsedChange(), *(PathState(path=parse_path(path)) for path in dict.fromkeys(paths)))


def judge_unmodified(paths: Sequence[str], evidence: Evidence, *, what: str, rule: str) -> ScorerOutcome:
    """FAIL when a change touches a listed path, what is beneath it, or puts something over a parent."""
    listed = tuple(dict.fromkeys(parse_path(path) for path in paths))
    protected = _protected(listed)
    changes = evidence[ParsedChange()].change_set.changes
    touched = [finding for change in changes for finding in _touched(change, protected, rule)]
    if touched:
        return ScorerOutcome.failed(
            f"{counted(len(touched), 'change')} to {what}", findings=first_findings(touched)
        )
    missing = [render_path(path) for path in listed if not evidence[PathState(path=path)].exists]
    reason = f"none of {counted(len(listed), 'listed path')} changed"
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        reason += f"; not in the workspace, before or after: {', '.join(missing[:_SHOWN])}{more}"
    return ScorerOutcome.passed(reason, details={"missing_paths": list(missing)})


_SHOWN = 3


def _touched(change: FileChange, listed: Mapping[str, str], rule: str) -> Iterator[Finding]:
    for path in change.paths:
        gone = path != change.path
        done = f"renamed to {render_path(change.path)}" if gone else happened_to(change)
        above = next((folder for folder in _with_parents(path) if listed.get(folder) == folder), None)
        if above is not None:
            why = "" if above == path else f", beneath {render_path(above)}"
        elif not gone and path in listed and _is_in_the_way(change):
            why = f" as a {change.new_type} over a parent of {render_path(listed[path])}"
        else:
            continue
        line = None if gone else first_changed_line(change)
        yield Finding(rule=rule, path=path, line=line, message=f"{render_path(path)} was {done}{why}")


def _protected(paths: Sequence[str]) -> dict[str, str]:
    """Each listed path to itself, and each parent of one to a listed path beneath it."""
    found = {parent: path for path in reversed(paths) for parent in _with_parents(path)}
    return found | {path: path for path in paths}


def _with_parents(path: str) -> Iterator[str]:
    """A path and the folders it is in, the nearest first."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _is_in_the_way(change: FileChange) -> bool:
    """Whether something now lies at the path through which nothing beneath it is reached as before."""
    return change.new_type not in (None, EntryType.DIRECTORY)
