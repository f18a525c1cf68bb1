printf 'def test_mine():\n    assert 1 == 1\n' > tests/test_mine.py
