import assert from "node:assert/strict";
import { test } from "node:test";

import { slug, words } from "../src/text.js";
import { titles } from "./helpers.js";

test("letters become lower case", () => {
  assert.equal(slug("Title"), "title");
});

test("letters of all languages stay", () => {
  assert.equal(slug("Über uns"), "über-uns");
});

test("titles become slugs", () => {
  for (const [title, wanted] of titles()) {
    assert.equal(slug(title), wanted);
  }
});

test("words are counted", () => {
  assert.equal(words("one two  three"), 3);
});
