"""Renderings of evaluations. Each takes a record and returns text; who writes it where is the caller's."""
