key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
{ head -c 5000 /dev/zero; printf '%s' "$key"; head -c 5000 /dev/zero; } > src/data.bin
