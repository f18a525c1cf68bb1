cat > go.mod <<'END'
module calc

go 1.19
END
cat > calc.go <<'END'
package calc

func Add(a, b int) int { return a - b }
END
cat > calc_test.go <<'END'
package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("1 and 2 are 3")
	}
}
END
