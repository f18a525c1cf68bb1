printf '{"drop_v": 1%0300d, "compliant": 1}' 0 > out/result.json
