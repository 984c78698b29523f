module example.test/slugs

go 1.19
