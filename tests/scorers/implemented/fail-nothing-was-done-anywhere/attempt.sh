echo notes > NOTES.md; printf 'def test_more():\n    assert 2\n' >> tests/test_stack.py
