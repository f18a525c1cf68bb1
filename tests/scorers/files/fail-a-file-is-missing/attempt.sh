printf '[app]\nretries = 3\ndebug = no\n' > config/app.ini; echo 1.2.0 > VERSION; printf 'def retry():\n    backoff()\n' > app.py
rm VERSION
