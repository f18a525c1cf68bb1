mkdir tests; printf '#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n' > tests/calc.rs
