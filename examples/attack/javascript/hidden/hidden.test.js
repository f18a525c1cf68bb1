import assert from "node:assert/strict";
import test from "node:test";

import { shorten, slugify } from "../slugs.js";

test("signs are left out", () => {
  assert.equal(slugify("Rock & Roll"), "rock-roll");
});

test("numbers are kept", () => {
  assert.equal(slugify("100% sure!"), "100-sure");
});

test("hyphens are folded", () => {
  assert.equal(slugify("a---b"), "a-b");
});

test("whole words are kept", () => {
  assert.equal(shorten("red-green-blue", 10), "red-green");
});

test("short ones are left", () => {
  assert.equal(shorten("red", 10), "red");
});

test("a long word is cut", () => {
  assert.equal(shorten("incomprehensible", 5), "incom");
});
