"""What source code says, read without running it: tests, what they assert, what changed in them."""
