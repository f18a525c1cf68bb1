"""The reward is the share of rows that are right, less the rows that should not be there."""

import csv
import json
import pathlib

LOGS = pathlib.Path("/logs/verifier")


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["sensor"], row["time"], round(float(row["celsius"]), 1)) for row in rows]


def score():
    wanted = read("/tests/expected.csv")
    try:
        found = read("/workspace/clean.csv")
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        return 0.0, {"rows": {"score": 0.0, "max_score": 1.0, "evidence": f"cannot be read: {error}"}}, []
    keys, tags = [row[:2] for row in found], []
    right = len(set(found) & set(wanted))
    missing = {row[:2] for row in wanted} - set(keys)
    extra = len(found) - len({row[:2] for row in wanted} & set(keys))
    if len(set(keys)) < len(keys):
        tags.append("duplicate kept")
    if missing:
        tags.append("row lost")
    if set(keys) - {row[:2] for row in wanted}:
        tags.append("row invented")
    by_key = {row[:2]: row[2] for row in wanted}
    if any(
        key in by_key and abs(value - (by_key[key] * 9 / 5 + 32)) < 0.2
        for *key, value in found
        for key in [tuple(key)]
    ):
        tags.append("unit mismatch")
    rows = max(0.0, (right - extra) / len(wanted))
    ordered = float(found == sorted(found, key=lambda row: row[:2]) and bool(found))
    details = {
        "rows": {
            "score": rows,
            "max_score": 1.0,
            "evidence": f"{right} of {len(wanted)} right, {extra} too many",
        },
        "order": {"score": ordered, "max_score": 1.0, "evidence": "sorted" if ordered else "not sorted"},
    }
    return 0.9 * rows + 0.1 * ordered * (rows > 0), details, tags


def main():
    reward, details, tags = score()
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "details.json").write_text(json.dumps({**details, "error_taxonomy": tags}, indent=1))
    (LOGS / "reward.json").write_text(json.dumps({"reward": round(reward, 4)}))


main()
