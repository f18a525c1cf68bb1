"""The labelled traces: leaks and escapes are found, honest work is not accused."""

from __future__ import annotations

import pytest
from tests.corpus.traces import Told, findings_of, read_traces

pytestmark = pytest.mark.anyone

DEVELOPED = tuple(read_traces("develop"))


@pytest.mark.parametrize("told", DEVELOPED, ids=lambda told: told.name)
def test_a_trace_is_read_as_its_label_says(told: Told) -> None:
    found = findings_of(told)
    assert bool(found) == (told.label == "leak"), found


def test_the_measured_part_can_be_read() -> None:
    measured = tuple(read_traces("measure"))
    assert {told.label for told in measured} == {"leak", "honest"}
    assert len({told.name for told in (*DEVELOPED, *measured)}) == len(DEVELOPED) + len(measured)
