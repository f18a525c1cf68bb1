printf 'print("===== 5 passed in 0.01s =====")\n' > product.py
