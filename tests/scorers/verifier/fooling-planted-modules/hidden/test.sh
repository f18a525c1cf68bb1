#!/bin/sh
python3 -c 'import json'
python3 -m json.tool /dev/null
exec python3 /tests/check.py
