"""Compares what the candidate's bucket answers with a bucket of our own, group by group.

The candidate's process is told the calls and never the answers, so what it prints can only be right by working
them out.
"""

import json
import pathlib
import random
import subprocess
import sys

LOGS = pathlib.Path("/logs/verifier")


def answers(case):
    level, last = case["capacity"], None
    found = []
    for now, tokens in case["calls"]:
        if last is not None and now > last:
            level = min(case["capacity"], level + (now - last) * case["rate"])
        last = now if last is None else max(last, now)
        taken = level >= tokens
        level -= tokens if taken else 0
        found.append(taken)
    return found


def groups():
    numbers = random.Random(20260105)
    steady = [
        {"capacity": 4, "rate": 0, "calls": [[0, 1]] * 8},
        {"capacity": 3, "rate": 0, "calls": [[0, 2], [0, 2], [0, 1]]},
    ]
    refill = []
    for _ in range(6):
        now, calls = 0, []
        for _ in range(20):
            now += numbers.choice([0, 1, 2, 3])
            calls.append([now, numbers.choice([1, 1, 2])])
        refill.append(
            {"capacity": numbers.choice([2, 3, 5]), "rate": numbers.choice([0.5, 1]), "calls": calls}
        )
    capped = [{"capacity": 2, "rate": 1, "calls": [[0, 2], [100, 2], [100, 1]]}]
    backwards = [{"capacity": 1, "rate": 1, "calls": [[10, 1], [5, 1], [10, 1], [11, 1]]}]
    return {"capacity": steady, "refill": refill, "cap": capped, "backwards": backwards}


def run(launcher, cases):
    command = [launcher] if launcher else []
    driver = pathlib.Path("/tests/driver.py").read_text()
    done = subprocess.run(
        [*command, "python3", "-", json.dumps(cases)],
        input=driver,
        capture_output=True,
        text=True,
        cwd="/workspace",
        check=False,
    )
    found = []
    for line in done.stdout.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            found.append(None)
    return found, done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]


def main():
    launcher = sys.argv[1] if len(sys.argv) > 1 else ""
    details, tags = {}, []
    names = {
        "capacity": "wrong capacity",
        "refill": "wrong refill",
        "cap": "wrong capacity",
        "backwards": "wrong refill",
    }
    for name, cases in groups().items():
        found, said = run(launcher, cases)
        wanted = [answers(case) for case in cases]
        right = sum(one == other for one, other in zip(found, wanted)) if len(found) == len(wanted) else 0
        details[name] = {
            "score": right,
            "max_score": len(wanted),
            "evidence": f"{right} of {len(wanted)} runs right",
        }
        if right < len(wanted):
            crashed = len(found) != len(wanted) or any(isinstance(one, str) for one in found)
            tags.append({"category": "crash", "description": said[0][:200]} if crashed else names[name])
    reward = sum(part["score"] / part["max_score"] for part in details.values()) / len(details)
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "details.json").write_text(json.dumps({**details, "error_taxonomy": tags}, indent=1))
    (LOGS / "reward.json").write_text(json.dumps({"reward": round(reward, 4)}))


main()
