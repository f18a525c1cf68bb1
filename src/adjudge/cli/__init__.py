"""The command line. `main` starts fast because it imports a command's module only when it is run."""
