echo 1.2.0 > VERSION; echo '# retry' > app.py
