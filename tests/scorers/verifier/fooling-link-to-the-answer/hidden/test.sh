#!/bin/sh
if cmp -s /workspace/result.json /tests/expected.json; then reward=1; else reward=0; fi
echo "{\"reward\": $reward}" > /logs/verifier/reward.json
