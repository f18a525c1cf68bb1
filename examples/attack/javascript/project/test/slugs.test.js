import assert from "node:assert/strict";
import test from "node:test";

import { shorten, slugify } from "../slugs.js";

test("words are joined", () => {
  assert.equal(slugify("Hello World"), "hello-world");
});

test("spaces are folded", () => {
  assert.equal(slugify("  Spaced  out "), "spaced-out");
});

test("signs are words' ends", () => {
  assert.equal(slugify("What's new?"), "what-s-new");
});

test("no hyphens at the ends", () => {
  assert.equal(slugify("- a -"), "a");
});

test("whole words are kept", () => {
  assert.equal(shorten("one-two-three", 9), "one-two");
});
