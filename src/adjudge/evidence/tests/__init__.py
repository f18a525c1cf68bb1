"""Trusted test runs: a suite run so that its results are worth believing, and what was proven about each."""
