"""The collectors: each answers the requests of one kind, from what the subject shows or what code does."""
