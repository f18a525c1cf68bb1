truncate -s 100M out/result.json
