"""The collector of `SecretScan`: secret-like strings in whatever the attempt added, litter included.

Added lines, names of new paths and targets of new symlinks are scanned; what merely moved is not new. The
secrets themselves stay in this process: findings say where and of what kind, and `secrets` lets the engine
take them out of whatever else would repeat them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.evidence.secretscan.added import added_text, readable_text
from adjudge.evidence.secretscan.known import in_unchanged_files, removed_text
from adjudge.evidence.secretscan.scanner import Hit, Scanner
from adjudge.formats.redaction import Redactor
from adjudge.records.change import FileChange
from adjudge.records.evidence import SecretFindings, SecretScan
from adjudge.records.paths import path_bytes, render_path
from adjudge.records.score import Finding

__all__ = ["SecretScanCollector"]

_MAX_LITTER_BYTES = 256 * 1024 * 1024
"""Litter is scanned up to this much in all; an environment full of packages would take minutes."""
_NAME = -1
"""In place of a line number, for a path's own name."""
_NO_LINES = -(10**12)
"""So that whatever is counted from it stays below any line number."""
_MAX_MOVED_BYTES = 64 * 1024 * 1024


class SecretScanCollector:
    """Scans once for a subject."""

    kind: ClassVar[str] = "secret_scan"
    cost: ClassVar[int] = 1

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()
        """Every secret-like string found by the last scan, to be kept out of other rows."""

    async def collect(self, request: SecretScan, subject: Subject) -> SecretFindings:
        """Scan everything that was added."""
        scan = _Scan(subject)
        hits = _new_hits(scan.run(), subject, scan.uncompared)
        self.secrets = frozenset(hit.secret for hit in hits)
        hide = Redactor(self.secrets)
        return SecretFindings(
            findings=tuple(dict.fromkeys(_finding(hit, hide) for hit in hits)),
            scanned_bytes=scan.scanned_bytes,
            unscanned=tuple(dict.fromkeys(hide.text(path) for path in scan.unscanned)),
            scanner=scan.scanner.name,
        )


class _Scan:
    """One pass over the change set."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._litter_bytes = 0
        self.scanner: Scanner[FileChange] = Scanner()
        self.scanned_bytes = 0
        self.unscanned: list[str] = []
        self.uncompared: list[FileChange] = []
        """Changes whose old text was scanned along with the new."""

    def run(self) -> list[Hit[FileChange]]:
        """Scan, and give every hit once."""
        found = {(hit.place.path, hit.number, hit.rule, hit.secret): hit for hit in self._hits()}
        self.unscanned += [change.path for change in self.scanner.failed]
        return list(found.values())

    def _hits(self) -> Iterator[Hit[FileChange]]:
        scanner = self.scanner
        for change in self._subject.change_set.changes:
            if change.new_type is None:
                continue
            if change.old_type is None or change.old_path is not None:
                yield from scanner.scan(change, path_bytes(change.path).replace(b"\n", b" "), _NAME)
            if change.litter and self._litter_bytes > _MAX_LITTER_BYTES:
                self.unscanned.append(change.path)
                continue
            added = added_text(change, self._subject.contents)
            if not added.whole:
                self.unscanned.append(change.path)
            if not added.compared:
                self.uncompared.append(change)
            for run in added.runs:
                self.scanned_bytes += len(run.text)
                self._litter_bytes += len(run.text) if change.litter else 0
                yield from scanner.scan(change, run.text, _NO_LINES if run.first is None else run.first)
        yield from scanner.finish()


def _new_hits(
    hits: Sequence[Hit[FileChange]], subject: Subject, uncompared: Iterable[FileChange]
) -> list[Hit[FileChange]]:
    """The hits that are not old text: not moved, not there before, not copied into litter by a build."""
    if not hits:
        return []
    before = removed_text(subject)
    stripped = frozenset(line.strip() for line in before.split(b"\n"))
    old = {
        change.path: readable_text(subject.contents.old(change, max_bytes=_MAX_MOVED_BYTES))[0]
        for change in uncompared
        if any(hit.place is change for hit in hits)
    }

    def is_new(hit: Hit[FileChange]) -> bool:
        secret, line = hit.secret.encode("utf-8", "replace"), hit.line.encode("utf-8", "replace").strip()
        there = old.get(hit.place.path, b"")
        if hit.number == _NAME:
            return secret not in path_bytes(hit.place.old_path or "")
        return secret not in before and line not in stripped and secret not in there

    new = [hit for hit in hits if is_new(hit)]
    in_litter = {hit.secret for hit in new if hit.place.litter}
    known = in_unchanged_files(subject, in_litter) if in_litter else set()
    kept = [hit for hit in new if not (hit.place.litter and hit.secret in known)]
    return sorted(kept, key=lambda hit: (path_bytes(hit.place.path), hit.number, hit.rule))


def _finding(hit: Hit[FileChange], hide: Redactor) -> Finding:
    path = hide.text(hit.place.path)
    shown = render_path(path)
    if hit.number == _NAME:
        message = f"the name of {shown} holds what looks like a secret: {_words(hit.rule)} (redacted)"
        return Finding(rule=f"secret-{hit.rule}", path=path, message=message)
    where = f"{shown}:{hit.number}" if hit.number > 0 else shown
    return Finding(
        rule=f"secret-{hit.rule}",
        path=path,
        line=hit.number if hit.number > 0 else None,
        message=f"{where} adds what looks like a secret: {_words(hit.rule)} (redacted)",
    )


def _words(rule: str) -> str:
    return rule.replace("-", " ")
