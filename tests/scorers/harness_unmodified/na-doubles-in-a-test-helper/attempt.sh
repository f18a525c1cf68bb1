cat > add.js <<'END'
exports.add = (a, b) => a + b;
END
cat > test/support/values.js <<'END'
const assert = require('node:assert');

exports.pair = [1, 2];
exports.quietly = (work) => {
  const { log } = console;
  console.log = () => {};
  try {
    assert.ok(work());
  } finally {
    console.log = log;
  }
};
END
