mkdir -p .github/workflows; echo on: push > .github/workflows/ci.yml
