"""Task directories: `task.toml`, `instruction.md`, `environment/`, `tests/`, `solution/`."""
