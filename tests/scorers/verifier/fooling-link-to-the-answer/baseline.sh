printf 'Write the sum to result.json\n' > README
