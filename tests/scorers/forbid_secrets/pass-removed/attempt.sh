rm src/settings.py
