#!/bin/bash
set -e
cd /workspace
python3 - <<'PYTHON'
import json

circuit = json.load(open("circuit.json"))
ohm_per_m = circuit["conductor_mohm_per_m"] / 1000
drop = 2 * circuit["length_m"] * circuit["current_a"] * ohm_per_m
percent = 100 * drop / circuit["supply_v"]
result = {
    "voltage_drop_v": round(drop, 4),
    "voltage_drop_pct": round(percent, 4),
    "compliant": percent <= circuit["limit_pct"],
}
json.dump(result, open("result.json", "w"))
PYTHON
