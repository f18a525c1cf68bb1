echo after > a.txt
