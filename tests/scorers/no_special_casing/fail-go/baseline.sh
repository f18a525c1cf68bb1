printf 'package check\n\nfunc Sum(s string) int { return 0 }\n' > check.go
cat > check_test.go <<'GO'
package check

import "testing"

func TestSum(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{
		{"the quick brown fox", 48213},
		{"90125 times", 7719},
	} {
		if got := Sum(tt.in); got != tt.want {
			t.Errorf("Sum(%q) = %d", tt.in, got)
		}
	}
}
GO
