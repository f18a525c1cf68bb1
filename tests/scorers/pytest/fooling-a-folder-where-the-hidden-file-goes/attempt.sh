mkdir test_hidden.py
printf 'def test_total():\n    pass\n' > test_hidden.py/test_more.py
