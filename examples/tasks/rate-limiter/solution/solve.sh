#!/bin/bash
set -e
cp /solution/limiter.py /workspace/limiter.py
