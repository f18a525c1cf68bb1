module example.org/slugs

go 1.19
