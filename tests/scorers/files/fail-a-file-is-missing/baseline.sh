mkdir config; printf '[app]\nretries = 0\ndebug = no\n' > config/app.ini; echo 1.1.0 > VERSION; echo 'print(1)' > app.py
