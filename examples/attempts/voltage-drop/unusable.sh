echo 'The voltage drop is about 8.3 V, which is fine.' > result.json
