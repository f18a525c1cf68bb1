printf '@Disabled\n@Test\nvoid adds() {\n  assertEquals(3, add(1, 2));\n}\n' > src/test/java/CalcTest.java
