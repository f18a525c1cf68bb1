"""What a trace shows that is not the agent's own work: leaked answers, and steps out of the workspace."""
