#!/bin/sh
echo '{"reward": 0}' > /logs/verifier/reward.json
mkdir -p /workspace/out
echo '{"reward": 1}' > /workspace/out/summary.json
