"""Rubrics as a library and from files: values, refusals, and the two artifacts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.formats.rubrics import parse_rubric, parse_scores
from adjudge.rollup.rubric import Criterion, Dimension, Rubric, roll_up
from adjudge.workflows.rubrics import score_rubric, write_artifacts


def test_the_seed_s_example() -> None:
    scored = roll_up(
        [
            Dimension("voltage_drop_v", 0.95, evidence="within 2% of reference"),
            Dimension("voltage_drop_pct", 1.0),
            Dimension("compliance", 1.0),
        ]
    )
    assert scored.reward == 0.9833
    assert scored.details()["voltage_drop_v"] == {
        "score": 0.95,
        "max_score": 1.0,
        "weight": 1.0,
        "evidence": "within 2% of reference",
    }


@pytest.mark.parametrize(
    ("strategy", "reward"), [("weighted_mean", round((0.5 * 3 + 1.0) / 4, 4)), ("min", 0.5)]
)
def test_strategies(strategy: str, reward: float) -> None:
    rubric = Rubric([Criterion("a", weight=3, max_score=10), Criterion("b", max_score=2)], strategy)
    assert rubric.score({"a": (5, "half"), "b": 7}).reward == reward
    assert rubric.score({"a": -5, "b": -1}).reward == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Criterion("a", weight=-1), "weight of 'a' is negative"),
        (lambda: Criterion("a", weight=float("nan")), "weight of 'a' is not finite"),
        (lambda: Criterion("a", weight=float("inf")), "not finite"),
        (lambda: Criterion("a", weight=10**400), "too large"),
        (lambda: Criterion("a", weight=True), "not a number"),
        (lambda: Criterion("a", max_score=0), "max_score of 'a' is not above 0"),
        (lambda: Criterion("a", max_score=-1), "not above 0"),
        (lambda: Criterion(" "), "needs a name"),
        (lambda: Dimension("a", "1"), "score of 'a' is not a number"),  # type: ignore[arg-type]
        (lambda: Dimension("a", float("nan")), "score of 'a' is not finite"),
        (lambda: Dimension("a", 1, evidence=3), "not text"),  # type: ignore[arg-type]
        (lambda: Rubric([]), "at least one dimension"),
        (lambda: Rubric([Criterion("a", weight=0), Criterion("b", weight=0)]), "every weight is 0"),
        (lambda: Rubric([Criterion("a"), Criterion("a")]), "'a' is there twice"),
        (lambda: Rubric([Criterion("a")], "max"), "strategy 'max' is unknown"),
        (lambda: Rubric([Criterion("a"), Criterion("b")]).score({"a": 1}), "no score for 'b'"),
        (lambda: Rubric([Criterion("a")]).score({"a": 1, "c": 1}), "'c' not in the rubric"),
        (lambda: roll_up([Dimension("a", 1), Dimension("a", 1)]), "there twice"),
    ],
)
def test_nonsense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_it_can_be_used_inside_a_verifier_at_almost_no_cost() -> None:
    """Nothing heavy is imported; how long it takes is in the benchmarks."""
    program = (
        "import sys; before = set(sys.modules); import adjudge.rollup.rubric;"
        "print('\\n'.join(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"pydantic", "yaml", "asyncio", "dataclasses", "inspect", "click", "json"}
    assert heavy.isdisjoint(loaded)
    assert {name for name in loaded if name.startswith("adjudge")} == {
        "adjudge",
        "adjudge.version",
        "adjudge.rollup",
        "adjudge.rollup.rubric",
    }


RUBRIC = b"""\
strategy: weighted_mean
dimensions:
  drop: {weight: 3, max_score: 10}
  units:
    description: Units are written out.
"""


def test_files(tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_bytes(RUBRIC)
    (tmp_path / "scores.json").write_text('{"drop": {"score": 5, "evidence": "half"}, "units": 1}')
    scored = score_rubric(tmp_path / "rubric.yaml", tmp_path / "scores.json")
    assert scored.reward == 0.625
    out = tmp_path / "out"
    out.mkdir()
    (out / "reward.json").symlink_to(tmp_path / "elsewhere")
    write_artifacts(out, scored)
    assert json.loads((out / "reward.json").read_text()) == {"reward": 0.625}
    assert not (out / "reward.json").is_symlink()
    assert json.loads((out / "details.json").read_text())["drop"]["evidence"] == "half"
    assert sorted(os.listdir(out)) == ["details.json", "reward.json"]


def test_an_artifact_that_cannot_be_written_leaves_everything_as_it_was(tmp_path: Path) -> None:
    scored = roll_up([Dimension("a", 1)])
    (tmp_path / "reward.json").write_text("old")
    (tmp_path / "details.json").mkdir()
    with pytest.raises(UsageError, match="a folder is in its place"):
        write_artifacts(tmp_path, scored)
    assert (tmp_path / "reward.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["details.json", "reward.json"]
    with pytest.raises(UsageError, match="No such file"):
        write_artifacts(tmp_path / "nowhere", scored)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "r.yaml:1:1: the file is empty; a rubric needs 'dimensions'"),
        (b"- 1\n", "a mapping expected"),
        (b"strategy: min\n", "dimensions"),
        (b"dimensions: {}\n", "dimensions"),
        (b"dimensions: {a: {}}\nstrategy: mean\n", "r.yaml:2:1: strategy"),
        (b"dimensions:\n  a: {wieght: 2}\n", "wieght"),
        (b"dimensions:\n  a: {weight: -1}\n", "r.yaml:2:7: dimensions.a.weight"),
        (b"dimensions:\n  a: {weight: .inf}\n", "dimensions.a.weight"),
        (b"dimensions:\n  a: {max_score: 0}\n", "dimensions.a.max_score"),
        (b"dimensions:\n  a: {weight: 0}\n", "every weight is 0"),
        (b"dimensions:\n  a: {}\n  a: {}\n", "r.yaml:3:3: dimensions: key 'a' is already on line 2"),
        (b"dimensions: 3\n", "dimensions: a mapping expected"),
        (b"dimensions: []\n", "dimensions"),
        (b"dimensions:\n- {weight: 1}\n", "r.yaml:2:3: dimensions[0]: a dimension needs a name"),
        (
            b"dimensions:\n- {name: a}\n- {name: a}\n",
            "r.yaml:3:3: dimensions[1]: dimension 'a' is already on line 2",
        ),
        (b"dimensions:\n- {name: a, wieght: 2}\n", "did you mean 'weight'?"),
    ],
)
def test_bad_rubrics_say_where(text: bytes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rubric(text, file="r.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[1]", "an object from dimension to score expected"),
        (b"{", "s.json: line 1, column 2: not JSON"),
        (b'{"a": 1, "a": 0}', "key 'a' is there twice"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b"\xff", "not UTF-8"),
        (b'{"a": {"evidence": "x"}}', "a: score is missing"),
        (b'{"a": {"score": 1, "max": 2}}', "unknown key 'max'"),
    ],
)
def test_bad_scores_say_where(text: bytes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_scores(text, file="s.json")
    assert message in str(caught.value)


def test_dimensions_in_a_list_and_scores_as_details_have_them(tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_bytes(b"dimensions: [{name: a, max_score: 10}, {name: b, weight: 3}]\n")
    (tmp_path / "scores.json").write_text('{"a": {"score": 5, "max_score": 10.0}, "b": 1}')
    assert score_rubric(tmp_path / "rubric.yaml", tmp_path / "scores.json").reward == 0.875
    (tmp_path / "scores.json").write_text('{"a": {"score": 5, "max_score": 5}, "b": 1}')
    with pytest.raises(UsageError, match="a: max_score is 10 in the rubric, and 5 here"):
        score_rubric(tmp_path / "rubric.yaml", tmp_path / "scores.json")


def test_scores_of_the_wrong_type_are_said(tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_bytes(b"dimensions: {a: {}}\n")
    (tmp_path / "scores.json").write_text('{"a": true}')
    with pytest.raises(UsageError, match="score of 'a' is not a number"):
        score_rubric(tmp_path / "rubric.yaml", tmp_path / "scores.json")
