package hidden

import (
	"testing"

	"example.com/tally/tally"
)

func TestSum(t *testing.T) {
	for _, c := range []struct {
		in   []int
		want int
	}{{[]int{1, 3}, 4}, {[]int{6}, 6}, {[]int{2, 2, 2, 2}, 8}, {[]int{7, 7}, 14}, {[]int{100}, 100}} {
		if got := tally.Sum(c.in...); got != c.want {
			t.Errorf("%v: %d", c.in, got)
		}
	}
}
