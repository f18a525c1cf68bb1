printf 'echo 100 passed; echo exit 0; exit 1\n' > check.sh
