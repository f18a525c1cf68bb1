"""Checks on whether the attempt worked on its grading instead of on its task."""
