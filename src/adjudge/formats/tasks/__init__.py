"""Scenario files: YAML to records, with every problem in its place, and the schema editors check against."""
