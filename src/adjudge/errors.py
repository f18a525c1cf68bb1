"""The error tree. The branch says whose fault it was, and that decides what happens to the score.

    AdjudgeError(message, hint=None)
    ├ UsageError            the caller's or the author's: stop before anything is spent (exit 2)
    │ ├ ScenarioInvalid       a scenario, task or recipe that does not validate; carries every problem
    │ ├ ConfigInvalid         a setting or an option with a value that cannot be used
    │ ├ PluginNotFound        a `type:` or a backend nobody provides
    │ └ BaselineNotFound      nothing to compare the workspace with
    ├ SubjectError          the attempt's: becomes evidence, never a crash
    │ ├ PatchUnreadable       a patch that is malformed or does not apply
    │ ├ WorkspaceUnreadable   a workspace that cannot be read as one
    │ ├ ReportUnreadable      a test report that is not what its format says
    │ └ TraceUnreadable       a trace that is not what its format says
    ├ InfraError            ours: retried once, then the verdict is ERROR
    │ ├ SandboxError          a sandbox could not be started, entered or discarded
    │ │ └ SandboxUnavailable    this machine cannot run that backend at all
    │ ├ CaptureError          the change set could not be computed
    │ ├ SubjectChanged        the workspace changed while it was being graded
    │ ├ RunFault              an agent could not be run: never its failure, never a zero
    │ ├ JudgeError            a judge could not be asked
    │ │ └ ProviderError         a provider refused, failed or was silent; says whether to try again
    │ └ StoreError            our own records or blobs could not be read or written
    └ PluginError           an extension raised: that verdict is ERROR

Foreign exceptions are classified where they cross into our code, with `boundary`. Anything that is not
an `AdjudgeError` is a bug and is allowed to crash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = [
    "AdjudgeError",
    "BaselineNotFound",
    "CaptureError",
    "ConfigInvalid",
    "InfraError",
    "JudgeError",
    "PatchUnreadable",
    "PluginError",
    "PluginNotFound",
    "Problem",
    "ProviderError",
    "ReportUnreadable",
    "RunFault",
    "SandboxError",
    "SandboxUnavailable",
    "ScenarioInvalid",
    "StoreError",
    "SubjectChanged",
    "SubjectError",
    "TraceUnreadable",
    "UsageError",
    "WorkspaceUnreadable",
    "boundary",
]


class AdjudgeError(Exception):
    """Root of every error raised on purpose.

    Args:
        message: What happened, where, and what was expected. Plain text, no markup.
        hint: What to do about it, shown on a line of its own.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


class UsageError(AdjudgeError):
    """The caller asked for something that cannot be done as asked."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file, in the place a reader would look for it."""

    file: str
    line: int
    column: int
    where: str
    """The path of the value inside the document, such as `scorers[2].timeout_s`."""
    message: str

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return f"{self.file}:{self.line}:{self.column}: {where}{self.message}"


class ScenarioInvalid(UsageError):
    """A scenario that does not validate; every problem found is in `problems`, in file order."""

    def __init__(self, problems: Sequence[Problem], *, hint: str | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems), hint=hint)


class ConfigInvalid(UsageError):
    """A setting, environment variable or option with a value that cannot be used."""


class PluginNotFound(UsageError):
    """A name that no built-in and no installed extension provides."""


class BaselineNotFound(UsageError):
    """There is nothing to compare the workspace with."""


class SubjectError(AdjudgeError):
    """The attempt under grading is at fault; the fault is evidence."""


class PatchUnreadable(SubjectError):
    """A patch is malformed, or does not apply to the baseline."""


class WorkspaceUnreadable(SubjectError):
    """A workspace cannot be read as one."""


class ReportUnreadable(SubjectError):
    """A test report cannot be read as one; the message says where it stops making sense."""


class TraceUnreadable(SubjectError):
    """A trace cannot be read as one at all; single parts that cannot be are counted instead."""


class InfraError(AdjudgeError):
    """We failed, not the attempt."""


class SandboxError(InfraError):
    """A sandbox could not be started, entered or discarded."""


class SandboxUnavailable(SandboxError):
    """This machine cannot run the requested sandbox backend."""


class CaptureError(InfraError):
    """The change set could not be computed."""


class SubjectChanged(InfraError):
    """The workspace changed while it was being graded, so no verdict on it would hold."""


class RunFault(InfraError):
    """An agent could not be run: no sandbox, no credential, no network, no disk. Tried again on resume."""


class JudgeError(InfraError):
    """A judge could not be asked."""


class ProviderError(JudgeError):
    """A provider refused, failed, or did not answer.

    Args:
        message: What it said.
        hint: What to do about it.
        retryable: Whether the same call may go through later.
        retry_after_s: When, if the provider said so.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class StoreError(InfraError):
    """Our own records or blobs could not be read or written."""


class PluginError(AdjudgeError):
    """An extension raised something of its own."""


@contextmanager
def boundary(kind: type[AdjudgeError], doing: str, *, hint: str | None = None) -> Iterator[None]:
    """Classify foreign exceptions once, where they cross into our code.

    Errors that are already ours pass through unchanged, so an inner and more exact classification wins.
    """
    try:
        yield
    except AdjudgeError:
        raise
    except Exception as error:
        detail = str(error) or type(error).__name__
        raise kind(f"{doing}: {detail}", hint=hint) from error
