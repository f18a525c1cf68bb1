echo '{"drop_v": 3.3, "cable": {"current": "16000 mA", "section": 2.5}, "compliant": true}' > answer.json; ln -s ../answer.json out/result.json
