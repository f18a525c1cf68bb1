"""What source text means, by language: which files are tests, what in a line is code, what marks a skip."""
