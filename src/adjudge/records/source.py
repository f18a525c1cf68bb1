"""What a source file holds, as far as it can be told without running it."""

from __future__ import annotations

from enum import StrEnum

from adjudge.records.base import Record

__all__ = ["BodyKind", "FunctionShape", "SourceOutline"]


class BodyKind(StrEnum):
    """What a function's body amounts to."""

    REAL = "real"
    """It does something."""
    EXPLICIT = "explicit"
    """It says that it is not implemented: `raise NotImplementedError`, `todo!()`, `panic("TODO")`."""
    EMPTY = "empty"
    """Nothing, `pass`, `...`, a docstring, `return`."""
    CONSTANT = "constant"
    """It returns a constant, the same on every path. Right for some functions, a stub for others."""
    RAISES = "raises"
    """It raises, always, without saying why it is not implemented. Right for some functions too."""


class FunctionShape(Record):
    """One function or method with a body."""

    name: str
    """With the classes and functions it lies in: `Stack.push`."""
    line: int
    kind: BodyKind
    why: str = ""
    """Why it is not real, as the end of a sentence that starts with the name."""
    abstract: bool = False
    """Meant to be filled in elsewhere: an abstract or overridden method, an overload, a protocol's."""
    method: bool = False
    """Whether it lies in a class, so that somebody may override it."""
    code: str = ""
    """Identity of its code, whatever the comments, docstrings and white space."""


class SourceOutline(Record):
    """The functions of a file and the identity of what stands outside of them."""

    functions: tuple[FunctionShape, ...] = ()
    statements: tuple[str, ...] = ()
    """Identities of the statements at the top level and in classes that are neither functions nor imports."""
    error_line: int | None = None
    """The first line that does not parse; what is around it is read all the same."""
