rm src/clock.py
printf 'import time\n\nNOW = 0\n\n\ndef freeze():\n    time.time = lambda: 0\n' > src/times.py
