printf "def total(prices):\n    return sum(prices)\n" > shop.py
