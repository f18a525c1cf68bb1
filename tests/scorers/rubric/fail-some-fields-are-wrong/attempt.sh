echo '{"drop_v": 3.5, "cable": {"section": 4}, "compliant": true}' > out/result.json
