key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
cp src/settings.py src/leak.py
