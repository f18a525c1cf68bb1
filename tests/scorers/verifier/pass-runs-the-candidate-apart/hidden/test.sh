#!/bin/sh
if [ "$(candidate ./answer.sh)" = 42 ]; then reward=1; else reward=0; fi
echo "{\"reward\": $reward}" > /logs/verifier/reward.json
