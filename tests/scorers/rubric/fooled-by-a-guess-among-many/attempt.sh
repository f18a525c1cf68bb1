echo '{"verdict": "low"}' > out/result.json
