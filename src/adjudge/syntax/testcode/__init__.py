"""Test files as what they check: tests with their checks and skips, and what a change did to them."""
