mkdir -p src test
printf 'exports.add = (a, b) => a - b;\n' > src/calc.js
printf "const { add } = require('../src/calc.js');\ntest('adds', () => { expect(add(1, 2)).toBe(3); });\n" > test/calc.test.js
printf 'module.exports = {\n  verbose: true,\n};\n' > jest.config.js
