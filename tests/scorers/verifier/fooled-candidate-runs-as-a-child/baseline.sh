printf '#!/bin/sh\necho 0\n' > answer.sh
chmod +x answer.sh
