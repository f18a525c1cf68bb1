mkdir -p src
printf 'import time\n\n\ndef freeze():\n    time.time = lambda: 0\n' > src/clock.py
