mkdir test
cat > slug.js <<'EOF'
exports.slug = (text) => text;
EOF
cat > test/slug.test.js <<'EOF'
const test = require("node:test");
const assert = require("node:assert");
const { slug } = require("../slug.js");

for (const [text, wanted] of [["Hello World", "hello-world"], ["A  b", "a-b"], ["x!", "x"], ["Ünder", "under"], ["Big Cat", "big-cat"], ["Old  Map", "old-map"], ["Red Fox 7", "red-fox-7"]]) {
  test(text, () => assert.strictEqual(slug(text), wanted));
}
EOF
