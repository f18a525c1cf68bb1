#!/bin/bash
# Only reads what the agent wrote, and runs none of it.
python3 /tests/verify.py
