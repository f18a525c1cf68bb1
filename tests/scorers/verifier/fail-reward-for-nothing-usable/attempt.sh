echo 'forty-two' > result.json
