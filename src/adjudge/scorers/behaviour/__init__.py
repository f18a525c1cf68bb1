"""Checks on what the final workspace does when it is run."""
