key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
ln -s "$key" src/link
