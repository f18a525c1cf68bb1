"""How a session of each runner is started: one file a runner."""
