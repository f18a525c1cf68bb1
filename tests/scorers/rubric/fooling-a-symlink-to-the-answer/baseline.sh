mkdir out; echo task > README
