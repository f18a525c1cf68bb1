key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
printf 'one\nkey = %s\n' "$key" | iconv -f UTF-8 -t UTF-16 > src/wide.txt
