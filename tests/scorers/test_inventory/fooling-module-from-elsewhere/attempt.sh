mkdir -p tests/fakes
cp calc.py tests/fakes/calc.py
printf 'import os\nimport sys\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "fakes"))\n' > tests/__init__.py
