"""Scorers that look at how the agent worked, as its trace tells it."""
