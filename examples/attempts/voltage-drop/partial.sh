# Right about the drop, wrong about the percentage.
echo '{"voltage_drop_v": 8.3, "voltage_drop_pct": 3.46, "compliant": true}' > result.json
