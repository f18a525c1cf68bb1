"""The tests of JavaScript and TypeScript files."""
