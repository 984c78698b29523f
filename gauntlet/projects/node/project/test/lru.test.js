import assert from "node:assert/strict";
import { test } from "node:test";

import { Lru } from "../src/lru.js";

test("an entry is found again", () => {
  const cache = new Lru(2);
  cache.set("a", 1);
  assert.equal(cache.get("a"), 1);
});

test("the oldest entry is forgotten", () => {
  const cache = new Lru(2);
  for (const key of ["a", "b", "c"]) cache.set(key, key);
  assert.equal(cache.get("a"), undefined);
  assert.equal(cache.size, 2);
});

test("reading an entry keeps it", () => {
  const cache = new Lru(2);
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  assert.equal(cache.get("a"), 1);
  assert.equal(cache.get("b"), undefined);
});
