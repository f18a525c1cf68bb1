printf 'package calc\n\nfunc TestAdd(t *testing.T) {\n\tt.Skip("later")\n}\n' > src/calc_test.go
