"""Measurements, run by `make bench` or `python -m bench [NAME…]`; each module here is one of them."""
