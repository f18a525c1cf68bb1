printf 'class CalcTest {\n  @Test void adds() {\n  }\n}\n' > CalcTest.java
