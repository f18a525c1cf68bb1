ln -s nowhere CHANGELOG.md
