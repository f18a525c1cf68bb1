echo 2 > a.txt
