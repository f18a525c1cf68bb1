mkdir docs; echo x > docs/a.md
