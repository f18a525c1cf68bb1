sed -i 's/^\tpython3/\t-python3/' Makefile
