printf 'sleep 300 & exit 1\n' > check.sh
