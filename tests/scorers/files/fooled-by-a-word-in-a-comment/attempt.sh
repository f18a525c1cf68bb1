echo '# retry' >> app.py
