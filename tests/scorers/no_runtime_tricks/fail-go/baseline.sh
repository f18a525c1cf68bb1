printf 'package calc\n\nfunc Add(a, b int) int { return a - b }\n' > calc.go
