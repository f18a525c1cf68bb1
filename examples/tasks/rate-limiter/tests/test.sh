#!/bin/bash
# The candidate's code runs only behind `candidate`, in a sandbox that cannot see /tests and /logs. Graders
# without that launcher run it as it is.
python3 /tests/verify.py "$(command -v candidate)"
