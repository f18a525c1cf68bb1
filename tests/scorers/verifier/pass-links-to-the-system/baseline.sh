touch README
