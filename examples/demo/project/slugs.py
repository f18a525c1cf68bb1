"""Turns titles into URL slugs."""

import re


def slugify(title: str) -> str:
    """Lower-case words joined by single hyphens."""
    return re.sub(r"[^a-z0-9]", "-", title.lower())
