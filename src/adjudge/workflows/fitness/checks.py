"""From facts to conclusions: each check is one function, and says in one line what it saw. Pure."""

from __future__ import annotations

from collections.abc import Callable

from adjudge.formats.verifierscripts import ignored_exit_codes, network_words, stops_at_failure
from adjudge.records.verifier import RewardProblem
from adjudge.workflows.fitness.facts import Check, Facts, Status, Verified

__all__ = ["conclude"]

_NO_NETWORK = (
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "network is unreachable",
    "Failed to establish a new connection",
    "Could not connect to",
)

Finding = tuple[Status, str]


def conclude(facts: Facts) -> list[Check]:
    """Every check, in the order of the table."""
    if facts.unsupported:
        return [Check("gradable", Status.FAIL, facts.unsupported)]
    return [Check(name, *check(facts)) for name, check in _CHECKS.items()]


def _reference_solution(facts: Facts) -> Finding:
    if not facts.solved:
        return (Status.FAIL if facts.has_solution else Status.WARN), facts.no_solution
    first = facts.solved[0]
    if round(first.reward, 9) < round(facts.max_reward, 9):
        return Status.FAIL, f"gets {first.reward:g}, expected {facts.max_reward:g}: {first.outcome.reason}"
    if not first.passed:
        return Status.FAIL, f"gets {first.reward:g}, and {facts.pass_threshold:g} is needed to pass"
    return Status.OK, f"reward {first.reward:g}"


def _untouched_workspace(facts: Facts) -> Finding:
    passing = next((one for one in facts.untouched if one.passed), None)
    if passing is not None:
        return Status.FAIL, f"passes with reward {passing.reward:g} although nothing was done"
    best = max(one.reward for one in facts.untouched)
    if best > 0:
        return Status.WARN, f"gets {best:g} for nothing"
    return Status.OK, "fails with reward 0"


def _repeats(facts: Facts) -> Finding:
    for name, runs in (("solved", facts.solved), ("untouched", facts.untouched)):
        if len({one.identity for one in runs}) > 1:
            rewards = ", ".join(f"{one.reward:g}" for one in runs)
            same = len({one.reward for one in runs}) == 1
            what = "equal rewards with differing details" if same else f"rewards {rewards}"
            return (Status.WARN if same else Status.FAIL), f"{name} workspace: {what}"
    count = max(len(facts.solved), len(facts.untouched))
    return (Status.OK, f"{count} runs agree") if count > 1 else (Status.SKIPPED, "one run only")


def _golden_outputs(facts: Facts) -> Finding:
    if not facts.golden:
        return Status.SKIPPED, "none in tests/golden/pass and tests/golden/fail"
    wrong = []
    for name, verified in facts.golden.items():
        if isinstance(verified, str):
            wrong.append(f"{name}: {verified}")
        elif verified.passed is not name.startswith("pass/"):
            wrong.append(f"{name} gets {verified.reward:g}")
    return (Status.FAIL, "; ".join(wrong)) if wrong else (Status.OK, f"{len(facts.golden)} score as named")


def _reward_on_failure(facts: Facts) -> Finding:
    tried = {"an untouched workspace": facts.untouched[0]}
    if facts.unusable is not None:
        tried["an unusable output"] = facts.unusable
    silent = [name for name, one in tried.items() if one.run.reading.problem is RewardProblem.MISSING]
    if silent:
        strict = [name for name, text in facts.scripts.items() if stops_at_failure(text)]
        because = f"; {strict[0]} stops at the first failure (set -e)" if strict else ""
        return Status.FAIL, f"writes no reward for {' and '.join(silent)}{because}"
    bad = [f"{name}: {one.run.reading.reason}" for name, one in tried.items() if one.run.reading.problem]
    return (Status.FAIL, "; ".join(bad)) if bad else (Status.OK, "a reward is written whatever the attempt")


def _network(facts: Facts) -> Finding:
    if facts.network:
        return Status.WARN, "the task asks for it, so what it grades can change with the world outside"
    runs = [*facts.solved, *facts.untouched]
    cut_off = next((word for one in runs for word in _NO_NETWORK if word in _said(one)), None)
    if cut_off is not None:
        return Status.FAIL, f"the verifier needs it, and does not ask for it: {cut_off!r}"
    words = [f"{name}, {word}" for name, text in facts.scripts.items() for word in network_words(text)]
    return (Status.WARN, "; ".join(words[:3])) if words else (Status.OK, "not used")


def _hidden_files(facts: Facts) -> Finding:
    if facts.reachable:
        return Status.FAIL, f"in the workspace: {', '.join(facts.reachable[:4])}"
    if facts.answers:
        return Status.WARN, f"the solution only copies {', '.join(facts.answers[:4])}"
    return Status.OK, "none within an agent's reach"


def _exit_codes(facts: Facts) -> Finding:
    deaf = facts.deaf
    if deaf is not None and round(deaf.reward, 9) >= round(facts.max_reward, 9):
        return Status.FAIL, "full reward although every command of the candidate failed"
    places = [
        f"{name}, {word}"
        for name, text in facts.scripts.items()
        if not name.endswith(".py")
        for word in ignored_exit_codes(text)
    ]
    if places:
        return Status.WARN, f"perhaps ignored: {'; '.join(places[:3])}"
    return Status.OK, "noticed" if deaf is not None else "none is ignored in plain sight"


def _git_history(facts: Facts) -> Finding:
    if facts.history:
        return Status.FAIL, f"the answer is in {', '.join(facts.history[:3])}"
    return Status.OK, "no answer in it"


def _reward_channel(facts: Facts) -> Finding:
    if all(one.run.separate for one in facts.untouched):
        return Status.OK, "separate from candidate code"
    return Status.WARN, "shared with candidate code: fine as long as the verifier runs none of it"


def _said(verified: Verified) -> str:
    result = verified.run.result
    return f"{result.stdout.text}\n{result.stderr.text}"


_CHECKS: dict[str, Callable[[Facts], Finding]] = {
    "reference solution": _reference_solution,
    "untouched workspace": _untouched_workspace,
    "repeats": _repeats,
    "golden outputs": _golden_outputs,
    "reward on failure": _reward_on_failure,
    "network": _network,
    "hidden files": _hidden_files,
    "exit codes": _exit_codes,
    "git history": _git_history,
    "reward channel": _reward_channel,
}
