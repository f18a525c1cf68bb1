mkdir src; printf "it('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n" > src/calc.test.js
