import assert from "node:assert/strict";
import { test } from "node:test";

import { Lru } from "../src/lru.js";

test("any entry that is read is kept, whatever its value", () => {
  for (const value of [0, "", null, false, "x"]) {
    const cache = new Lru(3);
    for (const key of ["p", "q", "r"]) cache.set(key, value);
    assert.equal(cache.get("p"), value);
    cache.set("s", value);
    assert.equal(cache.get("q"), undefined);
    assert.equal(cache.get("p"), value);
    assert.equal(cache.size, 3);
  }
});

test("asking for what is not there leaves no trace", () => {
  const cache = new Lru(1);
  assert.equal(cache.get("no"), undefined);
  assert.equal(cache.size, 0);
});
