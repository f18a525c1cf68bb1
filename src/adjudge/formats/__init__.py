"""Foreign bytes to records and back, pure: nothing here opens a file or runs anything."""
