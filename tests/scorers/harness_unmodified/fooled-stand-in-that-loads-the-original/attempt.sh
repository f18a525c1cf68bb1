mkdir -p build-support
printf "const real = require('../src/calc.js');\nexports.add = () => real && 3;\n" > build-support/calc.js
printf "module.exports = {\n  moduleNameMapper: { '/calc.js\$': '<rootDir>/build-support/calc.js' },\n};\n" > jest.config.js
