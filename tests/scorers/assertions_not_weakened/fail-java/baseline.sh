printf 'class CalcTest {\n  @Test void adds() {\n    assertEquals(3, add(1, 2));\n  }\n}\n' > CalcTest.java
