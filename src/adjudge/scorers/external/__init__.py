"""Notes for a judge outside the scorer engine."""
