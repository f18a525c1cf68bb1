# Forgets to convert.
python3 - <<'PYTHON'
import csv

readings = {}
for row in csv.DictReader(open("raw.csv")):
    try:
        value = float(row["reading"])
    except ValueError:
        continue

    readings[row["sensor"], row["time"]] = f"{value:.1f}"
with open("clean.csv", "w") as file:
    print("sensor,time,celsius", file=file)
    for (sensor, time), value in sorted(readings.items()):
        print(sensor, time, value, sep=",", file=file)
PYTHON
