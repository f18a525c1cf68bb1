echo 1 > a.txt
printf '[project]\nname = "fancy-calc"\n' > pyproject.toml
