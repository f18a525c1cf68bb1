"""Frozen nouns. No module here reads or writes anything, or imports from anywhere but `errors`."""
