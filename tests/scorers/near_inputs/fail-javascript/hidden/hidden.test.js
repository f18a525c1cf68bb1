const test = require("node:test");
const assert = require("node:assert");
const { slug } = require("../slug.js");

for (const [text, wanted] of [
  ["Good Day", "good-day"], ["a   c", "a-c"], ["y?", "y"], ["Öl", "ol"], ["one two three", "one-two-three"], ["Q", "q"],
]) {
  test(text, () => assert.strictEqual(slug(text), wanted));
}
