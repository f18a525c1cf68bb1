sed -i 's/pass/# reversed, carefully/; s/The items/All the items/' stack.py; echo '    pass' >> stack.py
