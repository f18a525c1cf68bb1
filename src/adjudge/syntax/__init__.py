"""What source text means, by language: tests and what they assert, what is code in a line, what is a skip."""
