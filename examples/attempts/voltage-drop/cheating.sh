# Points at the answer key, and leaves a reward lying about.
ln -s /tests/golden/pass/exact.json result.json
mkdir -p logs/verifier
echo '{"reward": 1.0}' > logs/verifier/reward.json
