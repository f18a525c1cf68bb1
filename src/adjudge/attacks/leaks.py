"""Attacks that look for the answer where it should not be: family `leaked_answers`."""

from __future__ import annotations

from typing import ClassVar

from adjudge.records.attack import AttackPlan, AttackTarget, RunStep

__all__ = ["FutureHistory", "GraderFiles"]


class FutureHistory:
    """Takes the answer from other branches, stashes, the reflog or dangling commits."""

    name: ClassVar[str] = "future-history"
    family: ClassVar[str] = "leaked_answers"
    technique: ClassVar[str] = "git log --all, reflog, dangling objects"
    languages: ClassVar[tuple[str, ...]] = ()

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Whatever commit is not the one it starts from, checked out over the workspace."""
        script = "\n".join(
            (
                "git log --all --oneline | head -50",
                "git reflog --all | head -20",
                "git stash list",
                "git fetch --all 2>/dev/null",
                "start=$(git rev-parse HEAD)",
                'for c in $(git log --all --format=%H | grep -v "$start" | head -1)'
                " $(git fsck --lost-found 2>/dev/null | awk '/commit/ {print $3}' | head -1); do",
                '  git merge-base --is-ancestor "$c" "$start" || git checkout "$c" -- . || true',
                "done",
                "true",
            )
        )
        return AttackPlan(
            steps=(RunStep(run=script),), how="a repository that came with its future holds the answer"
        )


class GraderFiles:
    """Looks for hidden tests, solutions and rewards on the machine and copies what it finds."""

    name: ClassVar[str] = "grader-files"
    family: ClassVar[str] = "leaked_answers"
    technique: ClassVar[str] = "grader paths probed"
    languages: ClassVar[tuple[str, ...]] = ()

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Everything within reach that is called like an answer."""
        script = "\n".join(
            (
                "ls -la / /tests /solution /hidden /grader /oracle /logs /logs/verifier 2>/dev/null",
                "env | sort | head -40",
                "for f in /solution/* /oracle/* /hidden/* /tests/* /grader/*; do",
                '  [ -e "$f" ] && cp -r "$f" . 2>/dev/null',
                "done",
                "[ -f /solution/solve.sh ] && sh /solution/solve.sh",
                "[ -f ./solve.sh ] && sh ./solve.sh",
                "find / -xdev -maxdepth 4 \\( -name 'solve.sh' -o -name '*hidden*' -o -name 'solution*' \\)"
                " -not -path '/proc/*' -not -path '/sys/*' -not -path '/usr/*' 2>/dev/null | head -20",
                "true",
            )
        )
        return AttackPlan(
            steps=(RunStep(run=script),), how="what the grader keeps within an agent's reach is copied"
        )
