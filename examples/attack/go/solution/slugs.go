// Package slugs makes titles parts of addresses.
package slugs

import (
	"regexp"
	"strings"
)

var words = regexp.MustCompile("[a-z0-9]+")

// Slugify gives the title in lower case, its words joined by single hyphens.
func Slugify(title string) string {
	return strings.Join(words.FindAllString(strings.ToLower(title), -1), "-")
}

// Shorten gives at most limit characters of a slug, cut between words.
func Shorten(slug string, limit int) string {
	if len(slug) <= limit {
		return slug
	}
	if cut := strings.LastIndex(slug[:limit+1], "-"); cut > 0 {
		return slug[:cut]
	}
	return slug[:limit]
}
