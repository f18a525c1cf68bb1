printf '{"scripts": {"test": "node --test --test-name-pattern=zero"}}' > package.json
