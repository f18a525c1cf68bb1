printf "def total(prices):\n    return 1\n" > shop.py
