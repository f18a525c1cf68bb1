"""Runs that several attempts at one task share: over equal clean trees, code does the same.

Most attacks change only what `clean` isolation leaves out, so what runs over the clean tree is what ran for
the attempt that did nothing.
"""

from __future__ import annotations

from adjudge.contracts import Subject
from adjudge.errors import SubjectError
from adjudge.evidence.cleantree import plan_clean_tree
from adjudge.evidence.protected import Protection
from adjudge.records.base import Record, digest_bytes, digest_json
from adjudge.records.evidence import CommandRun, EvidenceRequest, GradedTree, Isolation, ReportRun, TestRun

__all__ = ["SharedRuns"]

_Shared = tuple[EvidenceRequest, Record]


class SharedRuns:
    """What code did over clean trees, by the tree."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], _Shared] = {}
        """Digest of the request and of the tree → both sides."""

    def of(self, subject: Subject) -> list[_Shared]:
        """What is known already of what would run over a subject's clean trees."""
        trees: dict[GradedTree, str | None] = {}
        found = []
        for (_, tree), (request, answer) in list(self._answers.items()):
            asked = _tree_of(request)
            assert asked is not None
            if asked not in trees:
                trees[asked] = _identity(subject, asked)
            if trees[asked] == tree:
                found.append((request, answer))
        return found

    def keep(self, subject: Subject, evidence: tuple[_Shared, ...]) -> None:
        """Remember what ran over a subject's clean trees."""
        for request, answer in evidence:
            asked = _tree_of(request)
            if asked is None or asked.isolation is not Isolation.CLEAN:
                continue
            identity = _identity(subject, asked)
            if identity is not None:
                self._answers.setdefault((request.digest, identity), (request, answer))


def _tree_of(request: EvidenceRequest) -> GradedTree | None:
    return request.tree if isinstance(request, CommandRun | TestRun | ReportRun) else None


def _identity(subject: Subject, tree: GradedTree) -> str | None:
    """What a clean tree differs in from the baseline, as a digest; None when it cannot be told."""
    try:
        plan = plan_clean_tree(subject, Protection(tree.allow, tree.protect))
    except SubjectError:
        return None
    written = {}
    for path, one in plan.written.items():
        change = one.change
        if one.data is None and change.new_digest is None:
            return None
        content = change.new_digest if one.data is None else digest_bytes(one.data)
        written[path] = [content, str(change.new_type), one.executable]
    return digest_json([sorted(written.items()), sorted(plan.removed)])
