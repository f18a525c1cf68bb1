mkdir out/result.json
