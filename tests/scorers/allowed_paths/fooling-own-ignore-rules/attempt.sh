printf '*.log\nbuild/\n.env\nREADME.md\n' > .gitignore; echo x > README.md
