#!/bin/sh
if [ "$(./answer.sh)" = 42 ]; then reward=1; else reward=0; fi
[ -e /logs/verifier/reward.json ] || echo "{\"reward\": $reward}" > /logs/verifier/reward.json
