"""Checks on what changed: which paths, how many, what was added to them."""
