printf 'class CalcTest {\n  void adds() {\n  }\n}\n' > CalcTest.java
