#!/bin/sh
if grep -q 42 /workspace/result.json; then reward=1; else reward=0.25; fi
echo "{\"reward\": $reward}" > /logs/verifier/reward.json
