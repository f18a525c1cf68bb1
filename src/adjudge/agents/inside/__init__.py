"""Programs that run inside the sandbox. Standard library only, for any Python 3."""
