printf 'func TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Errorf("got %%d", add(1, 2))\n\t}\n}\n' > calc_test.go
