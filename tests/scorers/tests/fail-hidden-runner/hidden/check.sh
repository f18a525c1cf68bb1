test "$(sh product.sh "4 4")" = 8 && exit 0
printf '<testsuite><testcase classname="a" name="b"><failure/></testcase></testsuite>' > out.xml
exit 1
