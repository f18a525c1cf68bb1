"""What configuration, scripts and build files do to a test run, read from their bytes."""
