"""What in a trace reached for an answer that was not the agent's to have."""

from pydantic import Field

from adjudge.records.base import Record

__all__ = ["Leak"]


class Leak(Record):
    """One event that asked for, or was shown, what it should not."""

    rule: str
    """`grader-path-probed`, `hidden-file-read`, `hidden-content-shown`, `foreign-history-read`,
    `history-fetched`, `answer-from-web` or `answer-from-package`."""
    event: int = Field(ge=1)
    """Which event of the trace, from 1: the call."""
    tool: str = ""
    """What the agent calls the tool."""
    text: str
    """The command, path or address, on one line and capped."""
    in_vain: bool = False
    """Whether its result shows that it came to nothing."""
    quiet: bool = False
    """Whether an empty result means that nothing came of it."""
    lines: tuple[str, ...] = ()
    """Lines of a hidden file that a result held; capped."""
    most: bool = False
    """Whether these are most of what tells that file from others."""
