echo '{"drop_v": 3.28, "cable": {"current": "16 A", "section": 2.5}, "compliant": true, "more": 1}' > out/result.json
