printf 'set -- $1\necho $(($1 + $2))\n' > product.sh
