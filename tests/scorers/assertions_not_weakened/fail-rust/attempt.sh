printf '#[test]\nfn adds() {\n    add(1, 2);\n}\n' > tests/calc.rs
