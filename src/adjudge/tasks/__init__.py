"""Stage 1: load a scenario, freeze it into a task, make workspaces from it."""
