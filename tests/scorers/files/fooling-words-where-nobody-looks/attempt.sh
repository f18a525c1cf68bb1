printf '[app]\nretries = 3\ndebug = no\n' > config/app.ini; echo 1.2.0 > VERSION
mkdir -p .git node_modules/x; echo 'retry backoff' > .git/COMMIT_EDITMSG; echo 'retry backoff' > node_modules/x/i.js; echo 'retry backoff' > run.log
printf 'retry\0backoff' > blob.bin
