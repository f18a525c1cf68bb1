#!/bin/bash
set -e
cd /workspace
python3 - <<'PYTHON'
import csv

readings = {}
with open("raw.csv", newline="") as file:
    for row in csv.DictReader(file):
        try:
            value = float(row["reading"])
        except ValueError:
            continue
        if row["unit"] == "F":
            value = (value - 32) * 5 / 9
        readings[row["sensor"], row["time"]] = f"{value:.1f}"
with open("clean.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["sensor", "time", "celsius"])
    writer.writerows([*key, value] for key, value in sorted(readings.items()))
PYTHON
