echo before > a.txt
