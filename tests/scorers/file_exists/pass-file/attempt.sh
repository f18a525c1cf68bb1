echo fixed > CHANGELOG.md
