mkdir vendored; cd vendored; git init -q .; echo x > code.py
