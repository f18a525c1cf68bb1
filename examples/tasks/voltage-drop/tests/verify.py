"""Scores result.json field by field; the reward is the weighted mean of the fields."""

import json
import math
import pathlib

CIRCUIT = {
    "supply_v": 230.0,
    "current_a": 16.0,
    "length_m": 35.0,
    "conductor_mohm_per_m": 7.41,
    "limit_pct": 5.0,
}
LOGS = pathlib.Path("/logs/verifier")


def expected():
    drop = 2 * CIRCUIT["length_m"] * CIRCUIT["current_a"] * CIRCUIT["conductor_mohm_per_m"] / 1000
    percent = 100 * drop / CIRCUIT["supply_v"]
    return {"voltage_drop_v": drop, "voltage_drop_pct": percent, "compliant": percent <= CIRCUIT["limit_pct"]}


def number(found, wanted):
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0.0, f"expected a number, found {found!r}"
    if math.isclose(found, wanted, rel_tol=0.005):
        return 1.0, f"{found} is within 0.5% of {wanted:.4f}"
    return 0.0, f"{found} is not within 0.5% of {wanted:.4f}"


def main():
    try:
        result = json.loads(pathlib.Path("/workspace/result.json").read_text())
    except (OSError, ValueError) as error:
        result, problem = {}, f"cannot be read: {error}"
    else:
        problem = "" if isinstance(result, dict) else "not an object"
        result = result if isinstance(result, dict) else {}
    wanted = expected()
    details, tags = {}, []
    for field in ("voltage_drop_v", "voltage_drop_pct"):
        score, evidence = number(result.get(field), wanted[field])
        details[field] = {"score": score, "max_score": 1.0, "evidence": problem or evidence}
    flagged = result.get("compliant")
    right = flagged is wanted["compliant"]
    details["compliant"] = {
        "score": float(right),
        "max_score": 1.0,
        "evidence": problem or f"says {flagged!r}",
    }
    drop = result.get("voltage_drop_v")
    if isinstance(drop, int | float) and not isinstance(drop, bool):
        if math.isclose(drop, wanted["voltage_drop_v"] * 1000, rel_tol=0.005):
            tags.append({"category": "unit mismatch", "description": "the drop is given in millivolts"})
        if math.isclose(drop, wanted["voltage_drop_v"] / 2, rel_tol=0.005):
            tags.append(
                {"category": "wrong formula", "description": "only one of the two conductors counted"}
            )
    weights = {"voltage_drop_v": 2, "voltage_drop_pct": 1, "compliant": 1}
    reward = sum(weights[field] * details[field]["score"] for field in weights) / sum(weights.values())
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "details.json").write_text(json.dumps(details, indent=1))
    (LOGS / "tags.json").write_text(json.dumps(tags))
    (LOGS / "reward.json").write_text(json.dumps({"reward": round(reward, 4)}))


main()
