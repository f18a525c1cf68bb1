"""`python -m adjudge`, for where the console script is not on the path."""

import sys

from adjudge.cli.main import main

sys.exit(main())
