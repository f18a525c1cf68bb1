rm -r .github
