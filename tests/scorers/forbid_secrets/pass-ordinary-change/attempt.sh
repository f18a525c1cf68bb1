printf 'def add(a, b):\n    return a + b\n' > src/calc.py
printf '"integrity": "sha512-%s=="\n' "$(seq 1 60 | sha256sum | cut -c1-64)" > package-lock.json
