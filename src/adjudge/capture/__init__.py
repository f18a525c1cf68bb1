"""The change set the agent cannot falsify, computed from a baseline outside its reach."""
