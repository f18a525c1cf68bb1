"""Verifier runs: a task's own program, in a sandbox made for it, after the agent is gone."""
