"""What every scorer that runs code has in common: over which tree it runs, and what that tree leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern
from adjudge.formats.testcommands.files import runner_files
from adjudge.records.evidence import AnyRequest, CleanTree, GradedTree, Isolation
from adjudge.records.hidden import Inject, place_hidden
from adjudge.records.score import Finding, ScorerConfig

__all__ = ["LEFT_OUT", "CodeConfig", "ShellCommand", "TimeLimit", "clean_needs", "left_out", "tree_of"]

LEFT_OUT = "left-out-of-clean"
"""The rule of findings that only inform: a change of the attempt that did not reach the graded tree."""


def _without_nul(command: str) -> str:
    if "\0" in command:
        raise ValueError("a command cannot contain a NUL byte")
    return command


ShellCommand = Annotated[str, StringConstraints(pattern=r"\S"), AfterValidator(_without_nul)]
"""A command that a shell can be given."""

TimeLimit = Annotated[float, Field(ge=1, le=3600, strict=True)]
"""Seconds, from 1 to 3600."""


class CodeConfig(ScorerConfig):
    """Fields of every scorer that runs code."""

    takes_live: ClassVar[bool] = False

    isolation: Isolation = Isolation.SNAPSHOT
    """`snapshot`: the final workspace as it is. `clean`: the baseline with the attempt's changes to
    unprotected paths; tests, test configuration and runner files are the baseline's or hidden. `live`
    (`command` only): the agent's own sandbox, beside what it left running."""
    inject: Inject = ()
    """Hidden files, as `src` or `{src, dest}`: added read-only when graded, over whatever lies there. A file
    without `dest` goes to the root of the workspace."""
    allow: tuple[PathPattern, ...] = Field(default=(), max_length=100)
    """With `clean`: patterns of protected paths that the attempt may change all the same."""
    protect: tuple[PathPattern, ...] = Field(default=(), max_length=100)
    """With `clean`: patterns of further paths that come from the baseline."""

    @model_validator(mode="after")
    def _live_fits(self) -> Self:
        if self.isolation is Isolation.LIVE:
            if not self.takes_live:
                raise ValueError("isolation: live is for 'command' only; write snapshot or clean")
            if self.inject:
                raise ValueError(
                    "isolation: live and inject do not go together: what the agent left running could read "
                    "the hidden files; use snapshot or clean"
                )
        return self


def tree_of(config: CodeConfig, command: str = "", *, test_patch: str | None = None) -> GradedTree:
    """The tree that a scorer's code runs over."""
    clean = config.isolation is Isolation.CLEAN
    return GradedTree(
        isolation=config.isolation,
        allow=config.allow if clean else (),
        protect=(*config.protect, *runner_files(command)) if clean else (),
        inject=place_hidden(config.inject),
        test_patch=test_patch,
    )


def clean_needs(tree: GradedTree) -> tuple[AnyRequest, ...]:
    """Asks what the clean tree leaves out, where there is one."""
    if tree.isolation is not Isolation.CLEAN:
        return ()
    return (CleanTree(allow=tree.allow, protect=tree.protect),)


def left_out(tree: GradedTree, evidence: Evidence) -> Sequence[Finding]:
    """What the clean tree leaves out, for people to see."""
    if tree.isolation is not Isolation.CLEAN:
        return ()
    changes = evidence[CleanTree(allow=tree.allow, protect=tree.protect)].left_out
    return [Finding(rule=LEFT_OUT, path=change.path, message=change.message) for change in changes]
