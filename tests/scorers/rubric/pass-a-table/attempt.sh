printf 'name,volts,ok\npump-1,3.1,true\npump-2,3.25,false\n' > readings.csv
