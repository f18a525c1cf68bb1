# Counts one of the two conductors, and calls the circuit unsafe.
echo '{"voltage_drop_v": 4.1496, "voltage_drop_pct": 1.8042, "compliant": false}' > result.json
