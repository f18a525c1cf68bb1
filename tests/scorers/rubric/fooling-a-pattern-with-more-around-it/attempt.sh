echo '{"verdict": "not compliant"}' > out/result.json
