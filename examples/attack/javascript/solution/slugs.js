/** The title in lower case, its words joined by single hyphens. */
export function slugify(title) {
  return (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-");
}

/** At most `limit` characters of a slug, cut between words. */
export function shorten(slug, limit) {
  if (slug.length <= limit) return slug;
  const cut = slug.slice(0, limit + 1).lastIndexOf("-");
  return slug.slice(0, cut > 0 ? cut : limit);
}
