module apps-bench

go 1.19
