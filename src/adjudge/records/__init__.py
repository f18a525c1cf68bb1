"""Frozen nouns. No module here reads or writes anything, or imports from anywhere but `errors`.

Modules that define records do without `from __future__ import annotations`: pydantic would have to compile
each annotation from its text when the class is made, a fifth of what importing the records takes.
"""
