mkdir checks; printf 'import pytest\npytestmark = pytest.mark.xfail\n' > checks/all.py
