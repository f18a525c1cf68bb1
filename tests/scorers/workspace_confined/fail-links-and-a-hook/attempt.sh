mkdir -p .git/hooks
printf '#!/bin/sh\nexit 0\n' > .git/hooks/post-checkout
ln -s /etc/passwd out
