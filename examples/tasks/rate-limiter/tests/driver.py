"""Runs the candidate's bucket over calls read from standard input, and prints what it answered."""

import json
import sys

cases = json.loads(sys.argv[1])

from limiter import TokenBucket  # noqa: E402

for case in cases:
    try:
        bucket = TokenBucket(case["capacity"], case["rate"])
        answers = [bucket.allow(now, tokens) for now, tokens in case["calls"]]
    except Exception as error:
        answers = f"{type(error).__name__}: {error}"
    print(json.dumps(answers))
