echo '{"drop_v": [3.28], "cable": {"current": ["16 A"], "section": [2.5]}, "compliant": [true, false]}' > out/result.json
