rm -r src
