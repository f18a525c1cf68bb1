"""Every shape of a verifier's artifacts, with what becomes of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.reward import NO_ARTIFACT, Artifact, parse_notes, parse_reward, render_reward
from adjudge.records.annotation import ErrorSource, ErrorTag
from adjudge.records.verifier import RewardProblem

pytestmark = pytest.mark.anyone

ACCEPTED = [
    (b'{"reward": 0.93}', 0.93),
    (b'{"reward": 0}', 0.0),
    (b'{"reward": 1}', 1.0),
    (b'{"reward": -0.0}', 0.0),
    (b'{"reward": 1e-300}', 1e-300),
    (b'{"reward": 0.30000000000000004}', 0.30000000000000004),
    (b' \n{"reward": 0.5}\r\n', 0.5),
    (b'{"accuracy": 0.25}', 0.25),
    (b'{"accuracy": 1, "style": 0.5}', 0.75),
    (b'{"reward": 0.1, "accuracy": 1, "steps": 12}', 0.1),
    (b'{"reward": 0.1, "note": "fine"}', 0.1),
]

REFUSED = [
    (b"", RewardProblem.EMPTY),
    (b" \n\t ", RewardProblem.EMPTY),
    (b"{}", RewardProblem.WRONG_TYPE),
    (b"null", RewardProblem.WRONG_TYPE),
    (b"[]", RewardProblem.WRONG_TYPE),
    (b"[1]", RewardProblem.WRONG_TYPE),
    (b"1", RewardProblem.WRONG_TYPE),
    (b"0.5", RewardProblem.WRONG_TYPE),
    (b'"1"', RewardProblem.WRONG_TYPE),
    (b"true", RewardProblem.WRONG_TYPE),
    (b'{"reward": "0.5"}', RewardProblem.WRONG_TYPE),
    (b'{"reward": true}', RewardProblem.WRONG_TYPE),
    (b'{"reward": false}', RewardProblem.WRONG_TYPE),
    (b'{"reward": null}', RewardProblem.WRONG_TYPE),
    (b'{"reward": [1]}', RewardProblem.WRONG_TYPE),
    (b'{"reward": {"value": 1}}', RewardProblem.WRONG_TYPE),
    (b'{"passed": true}', RewardProblem.WRONG_TYPE),
    (b'{"a": 1, "b": "1"}', RewardProblem.WRONG_TYPE),
    (b'{"reward": NaN}', RewardProblem.NOT_FINITE),
    (b'{"reward": Infinity}', RewardProblem.NOT_FINITE),
    (b'{"reward": -Infinity}', RewardProblem.NOT_FINITE),
    (b'{"reward": 1e309}', RewardProblem.NOT_FINITE),
    (b'{"reward": -1e309}', RewardProblem.NOT_FINITE),
    (b'{"reward": -0.1}', RewardProblem.OUT_OF_RANGE),
    (b'{"reward": 1.0000001}', RewardProblem.OUT_OF_RANGE),
    (b'{"reward": 93}', RewardProblem.OUT_OF_RANGE),
    (b'{"reward": 1' + b"0" * 250 + b"}", RewardProblem.OUT_OF_RANGE),
    (b'{"a": 1, "b": 2}', RewardProblem.OUT_OF_RANGE),
    (b'{"reward": 1' + b"0" * 5000 + b"}", RewardProblem.MALFORMED),
    (b'{"reward": 0, "reward": 1}', RewardProblem.DUPLICATE_KEY),
    (b'{"reward": 0, "more": {"x": 1, "x": 2}}', RewardProblem.DUPLICATE_KEY),
    (b'\xef\xbb\xbf{"reward": 1}', RewardProblem.BYTE_ORDER_MARK),
    ('{"reward": 1}'.encode("utf-16"), RewardProblem.NOT_UTF8),
    ('{"reward": 1}'.encode("utf-16-le"), RewardProblem.MALFORMED),
    (b'{"reward": 1, "caf\xe9": 1}', RewardProblem.NOT_UTF8),
    (b'{"reward": 1', RewardProblem.MALFORMED),
    (b'{"reward": 1}}', RewardProblem.MALFORMED),
    (b'{"reward": 1}{"reward": 0}', RewardProblem.MALFORMED),
    (b"{'reward': 1}", RewardProblem.MALFORMED),
    (b'{"reward": 01}', RewardProblem.MALFORMED),
    (b'{"reward": .5}', RewardProblem.MALFORMED),
    (b'{"reward": 1,}', RewardProblem.MALFORMED),
    (b'{"reward": 1, "\\ud800": 1}', RewardProblem.MALFORMED),
    (b"reward: 1", RewardProblem.MALFORMED),
    (b"\x00" * 10, RewardProblem.MALFORMED),
    (b'{"reward": 1, "x": ' + b"[" * 80 + b"]" * 80 + b"}", RewardProblem.TOO_DEEP),
    (b"[" * 100_000, RewardProblem.TOO_DEEP),
]


@pytest.mark.parametrize(("data", "reward"), ACCEPTED)
def test_accepted(data: bytes, reward: float) -> None:
    reading = parse_reward(Artifact(data))
    assert (reading.reward, reading.problem, reading.source) == (reward, None, "reward.json")
    assert str(reading.reward) != "-0.0"


@pytest.mark.parametrize(("data", "problem"), REFUSED)
def test_refused_with_a_name_and_a_reason(data: bytes, problem: RewardProblem) -> None:
    reading = parse_reward(Artifact(data))
    assert (reading.reward, reading.problem) == (None, problem)
    assert reading.reason.startswith("reward.json: ")
    assert len(reading.reason) < 200


def test_there_are_enough_shapes() -> None:
    assert len({data for data, _ in (*ACCEPTED, *REFUSED)}) >= 40


@pytest.mark.parametrize(
    ("text", "reward", "problem"),
    [
        (b"1", 1.0, None),
        (b" 0.5\n", 0.5, None),
        (b"+.5", 0.5, None),
        (b"1.", 1.0, None),
        (b"5e-1", 0.5, None),
        (b"", None, RewardProblem.EMPTY),
        (b"nan", None, RewardProblem.NOT_FINITE),
        (b"-Infinity", None, RewardProblem.NOT_FINITE),
        (b"1e309", None, RewardProblem.NOT_FINITE),
        (b"1.5", None, RewardProblem.OUT_OF_RANGE),
        (b"-1", None, RewardProblem.OUT_OF_RANGE),
        (b"1_0", None, RewardProblem.MALFORMED),
        ("\N{ARABIC-INDIC DIGIT ONE}".encode(), None, RewardProblem.MALFORMED),
        (b"0x1", None, RewardProblem.MALFORMED),
        (b"true", None, RewardProblem.MALFORMED),
        (b"0.5 0.6", None, RewardProblem.MALFORMED),
        (b"0.5 # good", None, RewardProblem.MALFORMED),
        (b"\xef\xbb\xbf1", None, RewardProblem.BYTE_ORDER_MARK),
        (b"\xff", None, RewardProblem.NOT_UTF8),
    ],
)
def test_reward_txt(text: bytes, reward: float | None, problem: RewardProblem | None) -> None:
    reading = parse_reward(NO_ARTIFACT, Artifact(text))
    assert (reading.reward, reading.problem, reading.source) == (reward, problem, "reward.txt")


def test_nothing_there_is_missing() -> None:
    reading = parse_reward(NO_ARTIFACT)
    assert (reading.reward, reading.problem) == (None, RewardProblem.MISSING)


def test_what_is_no_file_says_so() -> None:
    reading = parse_reward(Artifact(problem=RewardProblem.NOT_A_FILE, reason="a symlink"))
    assert (reading.problem, reading.reason) == (RewardProblem.NOT_A_FILE, "reward.json: a symlink")


def test_reward_json_wins_and_disagreement_is_noted() -> None:
    assert parse_reward(Artifact(b'{"reward": 0.5}'), Artifact(b"0.5")).disagreement == ""
    differs = parse_reward(Artifact(b'{"reward": 0.5}'), Artifact(b"1"))
    assert (differs.reward, differs.disagreement) == (0.5, "reward.json says 0.5, reward.txt 1.0")
    invalid = parse_reward(Artifact(b'{"reward": 2}'), Artifact(b"1"))
    assert (invalid.reward, invalid.problem) == (None, RewardProblem.OUT_OF_RANGE)
    assert "reward.txt 1.0" in invalid.disagreement
    assert parse_reward(Artifact(b'{"reward": 0.5}'), Artifact(b"x")).disagreement


def test_several_keys_are_kept() -> None:
    mean = parse_reward(Artifact(b'{"a": 1, "b": 0.5}'))
    assert mean.rewards == {"a": 1.0, "b": 0.5}
    assert mean.warnings == ("reward.json has no key 'reward': the reward is the mean of 'a', 'b'",)
    assert parse_reward(Artifact(b'{"only": 0.5}')).warnings == ()
    beside = parse_reward(Artifact(b'{"reward": 1, "steps": 12, "note": "x"}'))
    assert beside.rewards == {"reward": 1.0, "steps": 12.0}
    assert beside.warnings == ("reward.json: 'note' is the string 'x'; only numbers are kept",)


def test_details_are_kept_untouched() -> None:
    written = {"b": {"score": 0.95, "evidence": "ok"}, "a": [1, 2.5, None, True, "ü"], "n": 10**30}
    assert parse_notes(Artifact(json.dumps(written).encode())).breakdown == written


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff", b"[" * 10_000, b'"\\ud800"']
)
def test_malformed_details_are_named_and_left_out(data: bytes) -> None:
    notes = parse_notes(Artifact(data))
    assert notes.breakdown is None
    assert len(notes.problems) == 1


def test_tags_come_from_both_files_once() -> None:
    details = {"error_taxonomy": [{"category": "unit mismatch", "description": " V, not mV "}, "parsing"]}
    tags = [{"category": "parsing"}, {"category": "style", "source": "judge"}]
    notes = parse_notes(Artifact(json.dumps(details).encode()), Artifact(json.dumps(tags).encode()))
    assert notes.tags == (
        ErrorTag(category="unit mismatch", description="V, not mV", source=ErrorSource.MECHANICAL),
        ErrorTag(category="parsing", source=ErrorSource.MECHANICAL),
        ErrorTag(category="style", source=ErrorSource.JUDGE),
    )
    assert notes.breakdown == details
    assert notes.problems == ()


@pytest.mark.parametrize(
    "tags",
    [
        1,
        None,
        {"x": []},
        [1],
        [""],
        [{"category": " "}],
        [{"category": "x", "source": "human"}],
        [{"category": "x", "severity": 1}],
        [{"category": "x", "description": 3}],
        [{"category": "x" * 300}],
        ["x"] * 201,
    ],
)
def test_tags_that_are_none_are_named(tags: object) -> None:
    notes = parse_notes(NO_ARTIFACT, Artifact(json.dumps(tags).encode()))
    assert len(notes.problems) == 1
    assert len(notes.tags) <= 1


@given(st.binary(max_size=60))
def test_no_bytes_raise(data: bytes) -> None:
    reading = parse_reward(Artifact(data), Artifact(data))
    assert (reading.reward is None) == (reading.problem is not None)
    parse_notes(Artifact(data), Artifact(data))


@given(st.floats(0, 1))
def test_what_is_written_is_read_back(reward: float) -> None:
    assert parse_reward(Artifact(render_reward(reward).encode())).reward == reward


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan"), True])
def test_nothing_else_is_written(reward: float) -> None:
    with pytest.raises(ValueError, match="not a reward"):
        render_reward(reward)
