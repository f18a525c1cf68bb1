key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
printf 'KEY=%s\n' "$key" > .env
