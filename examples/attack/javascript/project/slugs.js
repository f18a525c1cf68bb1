/** The title in lower case, its words joined by single hyphens. */
export function slugify(title) {
  return title.toLowerCase().replaceAll(" ", "-");
}

/** At most `limit` characters of a slug, cut between words. */
export function shorten(slug, limit) {
  return slug.slice(0, limit);
}
