"""Nothing inside a fence can end it, forge another, or hide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judge.fence import Fence, visible

pytestmark = pytest.mark.anyone


@given(st.text(alphabet=st.sampled_from("<>ab \n\u200b\u2039\u00ab\uff1c0"), max_size=200))
def test_no_text_contains_a_fence(text: str) -> None:
    fence = Fence([text], boundary="b0")
    lines = fence.around("diff", text).split("\n")
    assert lines[0] == f"<<<{fence.boundary} begin diff>>>"
    assert lines[-1] == f"<<<{fence.boundary} end diff>>>"
    inside = "\n".join(lines[1:-1])
    assert "<<<" not in inside
    assert ">>>" not in inside


def test_the_boundary_stands_nowhere_inside() -> None:
    fence = Fence(["known"], boundary="known")
    assert fence.boundary != "known"
    assert len(fence.boundary) == 24
    assert Fence([]).boundary != Fence([]).boundary


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\u200bb", "a\\u200bb"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\U000e0041", "\\U000e0041"),
        ("x\x1b[2J", "x\\u001b[2J"),
        ("line\r\nline", "line\nline"),
        ("over\rwritten", "over\\u000dwritten"),
        ("tab\tstays", "tab\tstays"),
        ("naïve 漢字", "naïve 漢字"),
    ],
)
def test_hidden_characters_are_spelled_out(hidden: str, shown: str) -> None:
    assert visible(hidden) == shown
