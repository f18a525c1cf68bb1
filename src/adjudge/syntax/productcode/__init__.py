"""Product code read for what it does to the tests: tricks, and answers that are written down."""
