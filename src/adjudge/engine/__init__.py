"""Grade one subject: plan what the recipe needs, collect each piece once, score."""
