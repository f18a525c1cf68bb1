package slugs

import "testing"

func TestHiddenSlugify(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Rock & Roll", "rock-roll"},
		{"100% sure!", "100-sure"},
		{"a---b", "a-b"},
	}
	for _, tt := range tests {
		if got := Slugify(tt.title); got != tt.want {
			t.Errorf("Slugify(%q) = %q, want %q", tt.title, got, tt.want)
		}
	}
}

func TestHiddenWholeWords(t *testing.T) {
	if got := Shorten("red-green-blue", 10); got != "red-green" {
		t.Errorf("got %q", got)
	}
}

func TestHiddenShortOnes(t *testing.T) {
	if got := Shorten("red", 10); got != "red" {
		t.Errorf("got %q", got)
	}
}

func TestHiddenLongWord(t *testing.T) {
	if got := Shorten("incomprehensible", 5); got != "incom" {
		t.Errorf("got %q", got)
	}
}
