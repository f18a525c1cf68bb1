mkdir -p src
printf 'export const add = (a, b) => a - b;\n' > src/calc.js
