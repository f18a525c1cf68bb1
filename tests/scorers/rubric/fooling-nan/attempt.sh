echo '{"drop_v": NaN, "cable": {"current": "16 A", "section": 2.5}, "compliant": true}' > out/result.json
