"""Foreign bytes to records and back: pure functions over values, no files and no processes."""
