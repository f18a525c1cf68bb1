cat > add.js <<'END'
exports.add = (a, b) => a - b;
END
cat > add.test.js <<'END'
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('./add.js');

test('adds', () => assert.strictEqual(add(1, 2), 3));
test('zero', () => assert.strictEqual(add(0, 0), 0));
END
printf '{"scripts": {"test": "node --test"}}' > package.json
