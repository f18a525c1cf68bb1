"""The tests of Python files: pytest's and unittest's."""
