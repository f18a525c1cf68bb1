"""Python sources: where the tests are, what they assert, and how to make a test false."""
