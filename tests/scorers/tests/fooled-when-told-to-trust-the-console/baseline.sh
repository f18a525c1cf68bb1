printf 'raise SystemExit(1)\n' > product.py
