"""Titles as parts of addresses."""


def slugify(title):
    """The title in lower case, its words joined by single hyphens."""
    return title.lower().replace(" ", "-")


def shorten(slug, limit):
    """At most `limit` characters of a slug, cut between words."""
    return slug[:limit]
