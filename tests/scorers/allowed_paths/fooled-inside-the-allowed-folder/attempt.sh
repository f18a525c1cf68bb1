printf 'def test_adds():\n    pass\n' > tests/test_calc.py
