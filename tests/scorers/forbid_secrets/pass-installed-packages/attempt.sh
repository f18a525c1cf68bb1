mkdir -p node_modules/pkg/test
key="AK""IAZ7Q4W2XK5LM3PN6R"; secret "$key"
printf 'key = "%s"\n' "$key" > node_modules/pkg/test/fixture.js
