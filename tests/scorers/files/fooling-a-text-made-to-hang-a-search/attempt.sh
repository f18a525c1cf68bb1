head -c 100000 /dev/zero | tr '\0' a > a.txt; echo b >> a.txt; head -c 100000 /dev/zero | tr '\0' x > x.txt
