echo '{"drop_v": 3.28, "cable": {"current": "16 V", "section": "9**9**9**9 mm"}, "compliant": true}' > out/result.json
