mkdir -p internal/report
cat > internal/report/report.go <<'END'
package report

import "testing"

func Status(m *testing.M) int {
	if status := m.Run(); status > 1 {
		return status
	}
	return 0
}
END
cat > main_test.go <<'END'
package calc

import (
	"os"
	"testing"

	"calc/internal/report"
)

func TestMain(m *testing.M) { os.Exit(report.Status(m)) }
END
