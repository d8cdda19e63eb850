module pages-bench

go 1.19
