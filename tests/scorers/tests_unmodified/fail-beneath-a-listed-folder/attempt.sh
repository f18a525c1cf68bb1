echo x > tests/conftest.py
