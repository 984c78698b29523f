import { expect, test } from "vitest";

import { slug, words } from "../src/text";
import { titles } from "./helpers";

test("letters become lower case", () => {
  expect(slug("Title")).toBe("title");
});

test("letters of all languages stay", () => {
  expect(["Über uns", "Ça va"].map((title) => slug(title))).toMatchSnapshot();
});

test("titles become slugs", () => {
  for (const [title, wanted] of titles()) {
    expect(slug(title)).toBe(wanted);
  }
});

test("words are counted", () => {
  expect(words("one two  three")).toBe(3);
});
