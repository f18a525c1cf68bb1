printf '#!/bin/sh\necho "{\\"reward\\": 1}" > /logs/verifier/reward.json\n' > answer.sh
