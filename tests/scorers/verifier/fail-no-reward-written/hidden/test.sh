#!/bin/sh
set -e
grep -q 42 /workspace/result.json
echo '{"reward": 1}' > /logs/verifier/reward.json
