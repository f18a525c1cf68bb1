"""Titles as parts of addresses."""

import re


def slugify(title):
    """The title in lower case, its words joined by single hyphens."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


def shorten(slug, limit):
    """At most `limit` characters of a slug, cut between words."""
    if len(slug) <= limit:
        return slug
    cut = slug[: limit + 1].rpartition("-")[0]
    return cut or slug[:limit]
