echo '{"voltage_drop_v": 8.2992, "voltage_drop_pct": 3.6083, "compliant": true}' > result.json
