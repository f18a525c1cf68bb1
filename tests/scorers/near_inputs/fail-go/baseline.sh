mkdir tally
cat > go.mod <<'EOF'
module example.com/tally

go 1.19
EOF
cat > tally/tally.go <<'EOF'
package tally

func Sum(values ...int) int { return 0 }
EOF
cat > tally/tally_test.go <<'EOF'
package tally

import "testing"

func TestSum(t *testing.T) {
	for _, c := range []struct {
		in   []int
		want int
	}{{[]int{1, 2}, 3}, {[]int{5}, 5}, {[]int{2, 2, 9}, 13}, {nil, 0}} {
		if got := Sum(c.in...); got != c.want {
			t.Errorf("%v: %d", c.in, got)
		}
	}
}
EOF
