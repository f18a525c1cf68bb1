cat > run.sh <<'EOF'
# A runner of another language: asks the product, writes JUnit XML.
mkdir -p reports
code=0
cases=""
check() {
  if [ "$(sh product.sh "$2" 2>/dev/null)" = "$3" ]; then
    cases="$cases<testcase classname=\"product\" name=\"$1\"/>"
  else
    cases="$cases<testcase classname=\"product\" name=\"$1\"><failure message=\"expected $3\"/></testcase>"
    code=1
  fi
}
check adds "1 2" 3
check adds_more "2 5" 7
printf '<testsuite name="product">%s</testsuite>\n' "$cases" > reports/TEST-product.xml
exit $code
EOF
printf 'exit 1\n' > product.sh
