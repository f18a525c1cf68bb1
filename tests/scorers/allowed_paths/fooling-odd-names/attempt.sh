printf x > "$(printf 'src\nevil')"; printf x > "$(printf 'b\377d')"
