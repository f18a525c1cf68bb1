printf 'test:\n\tpytest -q || true\n\nclean:\n\trm -rf build\n' > Makefile
