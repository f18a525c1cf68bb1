printf '[pytest]\naddopts = -k more\n' > pytest.ini
