printf "def total(prices):\n    return 0\n" > shop.py
