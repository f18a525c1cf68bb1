"""Go test files: which tests they define, and how to make them false."""
