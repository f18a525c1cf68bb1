key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
echo x > "src/$key.txt"
