"""Where the parts of a run are: on pages of their own, or in the document one reads."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from adjudge.records.evaluation import Evaluation

__all__ = ["DocumentLinks", "PageLinks"]


class PageLinks:
    """Addresses of the pages of a run.

    Args:
        run_id: The run.
        evaluation: An evaluation that is shown instead of the current one.
        split: Whether diffs are shown side by side.
    """

    anchor = ""

    def __init__(self, run_id: str, evaluation: str | None = None, *, split: bool = False) -> None:
        self._base = f"/runs/{quote(run_id, safe='')}"
        self._kept = {} if evaluation is None else {"evaluation": evaluation}
        self._split = {"view": "split"} if split else {}

    def to(self, page: str = "", **query: object) -> str:
        """A page of the run; values that are None or empty are left out."""
        wanted = {
            **self._kept,
            **{name: str(value) for name, value in query.items() if value not in (None, "")},
        }
        return self._base + (f"/{page}" if page else "") + (f"?{urlencode(wanted)}" if wanted else "")

    def scorer(self, position: int) -> str:
        """Everything on a scorer."""
        return self.to(f"scorers/{position}")

    def scorer_row(self, position: int) -> str:
        """A scorer's row in its card."""
        return f"{self.to()}#scorer-{position}"

    def finding(self, position: int, number: int) -> str:
        """The line that a finding is about."""
        return self.to(f"scorers/{position}/findings/{number}", **self._split)

    def step(self, number: int) -> str:
        """A step in full."""
        return self.to(f"timeline/{number}")

    def file(self, index: int, start: int = 0) -> str:
        """A file of the diff by itself."""
        return self.to("diff", file=index, start=start or None, **self._split)


class DocumentLinks:
    """Places in one document that has everything; what it has not, has no address.

    Args:
        anchor: What the ids of this run begin with.
        places: The anchor of each finding that is in the document, by scorer and number.
    """

    def __init__(self, anchor: str, places: dict[tuple[int, int], str] | None = None) -> None:
        self.anchor = anchor
        self._places = places or {}

    def scorer(self, position: int) -> str:
        """There is no more on a scorer than its row."""
        return ""

    def scorer_row(self, position: int) -> str:
        """A scorer's row in its card."""
        return f"#{self.anchor}scorer-{position}"

    def finding(self, position: int, number: int) -> str:
        """The line that a finding is about, where it is in the document."""
        place = self._places.get((position, number))
        return "" if place is None else f"#{place}"

    def step(self, number: int) -> str:
        """There is no more of a step than is shown."""
        return ""

    def file(self, index: int, start: int = 0) -> str:
        """There is no more of a file than is shown."""
        return ""


def kept_evaluation(shown: Evaluation | None, current: Evaluation | None) -> str | None:
    """The evaluation that links have to name: one that is not the current one."""
    if shown is None or (current is not None and shown.id == current.id):
        return None
    return shown.id
