mkdir -p test/support
cat > add.js <<'END'
exports.add = (a, b) => a - b;
END
cat > test/support/values.js <<'END'
exports.pair = [1, 2];
END
cat > test/add.test.js <<'END'
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('../add.js');
const { pair } = require('./support/values.js');

test('adds', () => assert.equal(add(...pair), 3));
END
printf '{"scripts": {"test": "node --test test/"}}' > package.json
