module limits-bench

go 1.19
