printf 'x = 2\n' > a.py
