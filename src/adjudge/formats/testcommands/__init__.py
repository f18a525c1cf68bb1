"""Test commands as recipes write them: what they run, and how one is made to report."""
