"""Experiment files: YAML to a plan, with every problem in its place, and the schema editors check against."""
