package slugs

import "testing"

func TestSlugify(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Hello World", "hello-world"},
		{"  Spaced  out ", "spaced-out"},
		{"What's new?", "what-s-new"},
	}
	for _, tt := range tests {
		if got := Slugify(tt.title); got != tt.want {
			t.Errorf("Slugify(%q) = %q, want %q", tt.title, got, tt.want)
		}
	}
}

func TestNoHyphensAtTheEnds(t *testing.T) {
	if got := Slugify("- a -"); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestShortenKeepsWholeWords(t *testing.T) {
	if got := Shorten("one-two-three", 9); got != "one-two" {
		t.Errorf("got %q", got)
	}
}
