echo x > changelog.md
