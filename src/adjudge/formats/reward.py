"""A verifier's artifacts: `reward.json`, `reward.txt`, `details.json`, `tags.json`.

Read strictly. A reward is a number, not a boolean and not a string, with 0 ≤ reward ≤ 1; everything else has
a name in `RewardProblem`. Nothing that a verifier writes raises here. Finding the files is left to
`adjudge.evidence.verifier`, what follows from them to the `verifier` scorer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adjudge.formats.jsontext import TextRefused, parse_json
from adjudge.records.annotation import ErrorSource, ErrorTag
from adjudge.records.verifier import RewardProblem, RewardReading, VerifierNotes

__all__ = [
    "DETAILS_FILES",
    "MAX_DETAILS_BYTES",
    "MAX_REWARD_BYTES",
    "NO_ARTIFACT",
    "REWARD_JSON",
    "REWARD_TXT",
    "TAGS_FILE",
    "Artifact",
    "parse_notes",
    "parse_reward",
    "render_reward",
]

REWARD_JSON = "reward.json"
REWARD_TXT = "reward.txt"
DETAILS_FILES = ("details.json", "reward-details.json")
"""The first that is there counts; rewardkit writes the second."""
TAGS_FILE = "tags.json"

MAX_REWARD_BYTES = 64 * 1024
MAX_DETAILS_BYTES = 4 * 1024 * 1024
"""A breakdown is part of the evaluation document."""
_MAX_TAGS = 200
_MAX_CATEGORY = 200
_MAX_DESCRIPTION = 4000
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z", re.ASCII)
_OUR_KEY = "reward"


class Artifact(NamedTuple):
    """What lay at the place of a file: its bytes, or why there are none."""

    data: bytes = b""
    problem: RewardProblem | None = None
    reason: str = ""

    @property
    def there(self) -> bool:
        """Whether anything was there."""
        return self.problem is not RewardProblem.MISSING


NO_ARTIFACT = Artifact(problem=RewardProblem.MISSING, reason="missing")


class _Bad(Exception):
    def __init__(self, problem: RewardProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


def parse_reward(as_json: Artifact, as_text: Artifact = NO_ARTIFACT) -> RewardReading:
    """What the reward files say. `reward.json` wins over `reward.txt`, also when only the latter is valid."""
    if not as_json.there and not as_text.there:
        return _problem(RewardProblem.MISSING, f"no {REWARD_JSON} and no {REWARD_TXT}", source="")
    if not as_json.there:
        return _read_text(as_text)
    reading = _read_json(as_json)
    if as_text.there:
        other = _read_text(as_text)
        if other.reward != reading.reward:
            said = other.reason if other.reward is None else str(other.reward)
            ours = reading.reason if reading.reward is None else str(reading.reward)
            message = f"{REWARD_JSON} says {ours}, {REWARD_TXT} {said}"
            reading = reading.model_copy(update={"disagreement": message})
    return reading


def parse_notes(details: Artifact, tags: Artifact = NO_ARTIFACT) -> VerifierNotes:
    """What the verifier wrote beside its reward. What cannot be used is named and left out."""
    problems: list[str] = []
    breakdown = _read_object(details, problems, "details")
    found: list[ErrorTag] = []
    if breakdown is not None and "error_taxonomy" in breakdown:
        found += _tags(breakdown["error_taxonomy"], "error_taxonomy in the details", problems)
    if tags.there:
        try:
            listed = _parsed(tags)
        except _Bad as error:
            problems.append(f"{TAGS_FILE}: {error}")
        else:
            if isinstance(listed, dict):
                listed = listed.get("error_taxonomy", listed.get("tags"))
            found += _tags(listed, TAGS_FILE, problems)
    return VerifierNotes(
        breakdown=breakdown, tags=tuple(dict.fromkeys(found)), problems=tuple(dict.fromkeys(problems))
    )


def render_reward(reward: float, *, rewards: Mapping[str, float] | None = None) -> str:
    """A `reward.json` that this module, and others that read the format, read back as they were given."""
    if isinstance(reward, bool) or not 0.0 <= reward <= 1.0:
        raise ValueError(f"{reward!r} is not a reward: expected a number from 0 to 1")
    return json.dumps({_OUR_KEY: float(reward), **(rewards or {})}, allow_nan=False) + "\n"


def _problem(problem: RewardProblem, reason: str, *, source: str) -> RewardReading:
    return RewardReading(problem=problem, reason=reason, source=source)


def _parsed(artifact: Artifact) -> Any:
    if artifact.problem is not None:
        raise _Bad(artifact.problem, artifact.reason)
    try:
        return parse_json(_decode(artifact.data))
    except TextRefused as error:
        raise _Bad(RewardProblem(error.kind), str(error)) from None


def _decode(data: bytes) -> str:
    """The text, when it is UTF-8 and says anything."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _Bad(RewardProblem.NOT_UTF8, "written in UTF-16, expected UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        raise _Bad(RewardProblem.BYTE_ORDER_MARK, "starts with a byte order mark, which JSON does not have")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Bad(RewardProblem.NOT_UTF8, f"not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise _Bad(RewardProblem.EMPTY, "nothing but white space" if text else "empty")
    return text


def _read_json(artifact: Artifact) -> RewardReading:
    try:
        return _headline(_parsed(artifact))
    except _Bad as error:
        return _problem(error.problem, f"{REWARD_JSON}: {error}", source=REWARD_JSON)


def _read_text(artifact: Artifact) -> RewardReading:
    try:
        if artifact.problem is not None:
            raise _Bad(artifact.problem, artifact.reason)
        text = _decode(artifact.data).strip()
        if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
            raise _Bad(RewardProblem.NOT_FINITE, f"{text} is not a finite number")
        if not _NUMBER.match(text):
            raise _Bad(RewardProblem.MALFORMED, f"{text[:60]!r} is not a decimal number")
        reward = _checked(float(text), text)
    except _Bad as error:
        return _problem(error.problem, f"{REWARD_TXT}: {error}", source=REWARD_TXT)
    return RewardReading(reward=reward, source=REWARD_TXT, rewards={_OUR_KEY: reward})


def _headline(value: Any) -> RewardReading:
    if not isinstance(value, dict):
        raise _Bad(RewardProblem.WRONG_TYPE, f"{_named(value)}, expected an object with a number in it")
    if not value:
        raise _Bad(RewardProblem.WRONG_TYPE, f"the object is empty, expected the key {_OUR_KEY!r}")
    if _OUR_KEY in value:
        reward = _number(value[_OUR_KEY], _OUR_KEY)
        rewards = {key: float(one) for key, one in value.items() if _is_number(one)}
        warnings = [
            f"{REWARD_JSON}: {key[:100]!r} is {_named(one)}; only numbers are kept"
            for key, one in value.items()
            if key not in rewards
        ]
    else:
        rewards = {key: _number(one, key) for key, one in value.items()}
        reward = math.fsum(rewards.values()) / len(rewards)
        warnings = []
        if len(rewards) > 1:
            listed = ", ".join(repr(key[:40]) for key in list(rewards)[:5])
            more = f" and {len(rewards) - 5} more" if len(rewards) > 5 else ""
            warnings.append(
                f"{REWARD_JSON} has no key {_OUR_KEY!r}: the reward is the mean of {listed}{more}"
            )
        else:
            reward = next(iter(rewards.values()))
    return RewardReading(reward=reward, source=REWARD_JSON, rewards=rewards, warnings=tuple(warnings[:20]))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # An integer that no float can hold.
    return isinstance(value, float) or abs(value) < 10**300


def _number(value: Any, key: str) -> float:
    where = "" if key == _OUR_KEY else f"{key[:100]!r}: "
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Bad(RewardProblem.WRONG_TYPE, f"{where}{_named(value)}, expected a number")
    try:
        return _checked(value, str(value)[:40])
    except _Bad as error:
        raise _Bad(error.problem, f"{where}{error}") from None


def _checked(value: float, written: str) -> float:
    if value != value or abs(value) == math.inf:
        raise _Bad(RewardProblem.NOT_FINITE, f"{written[:40]} is not a finite number")
    if not 0 <= value <= 1:
        raise _Bad(RewardProblem.OUT_OF_RANGE, f"{written[:40]} is not between 0 and 1")
    # 0.0, not the -0.0 that it may have been.
    return float(value) or 0.0


def _named(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {'true' if value else 'false'}"
        case str():
            return f"the string {value[:40]!r}"
        case int() | float():
            return f"the bare number {str(value)[:40]}"
        case list():
            return "a list"
        case _:
            return "an object"


def _read_object(artifact: Artifact, problems: list[str], name: str) -> dict[str, Any] | None:
    if not artifact.there:
        return None
    try:
        value = _parsed(artifact)
    except _Bad as error:
        problems.append(f"{name}: {error}")
        return None
    if not isinstance(value, dict):
        problems.append(f"{name}: {_named(value)}, expected an object")
        return None
    return value


def _tags(listed: Any, where: str, problems: list[str]) -> Sequence[ErrorTag]:
    if not isinstance(listed, list):
        problems.append(f"{where}: {_named(listed)}, expected a list of tags")
        return ()
    if len(listed) > _MAX_TAGS:
        problems.append(f"{where}: {len(listed)} tags, of which the first {_MAX_TAGS} are kept")
    found = []
    for number, item in enumerate(listed[:_MAX_TAGS]):
        tag = _tag(item)
        if tag is None:
            problems.append(
                f"{where}[{number}]: expected a category, or an object with category, description and source"
            )
        else:
            found.append(tag)
    return found


def _tag(item: Any) -> ErrorTag | None:
    """A tag. Whatever a program says about its source, no person has said it."""
    if isinstance(item, str):
        item = {"category": item}
    match item:
        case {"category": str(category), **rest} if (
            category.strip() and len(category) <= _MAX_CATEGORY and set(rest) <= {"description", "source"}
        ):
            described = rest.get("description")
            source = rest.get("source", ErrorSource.MECHANICAL.value)
            if not (described is None or isinstance(described, str)):
                return None
            if source not in (ErrorSource.MECHANICAL.value, ErrorSource.JUDGE.value):
                return None
            text = (described or "").strip()[:_MAX_DESCRIPTION]
            return ErrorTag(category=category, description=text or None, source=ErrorSource(source))
        case _:
            return None
