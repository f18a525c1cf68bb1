echo '{"drop_v": 3.3, "cable": {"current": "16000 mA", "section": 2.5}, "compliant": true}' > out/result.json
