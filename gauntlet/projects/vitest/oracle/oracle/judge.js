// Runs outside of every test runner, in another folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { transformSync } = require("rolldown/utils");
const path = new URL("../src/text.ts", import.meta.url);
const { code } = transformSync("text.ts", readFileSync(path, "utf8"));
const { slug, words } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const slugs = {
  "a---b": "a-b",
  "A, b & c": "a-b-c",
  "x\t \ny": "x-y",
  ab: "ab",
  "É 1": "é-1",
  " a ": "a",
  "--": "",
  "": "",
  "(b)": "b",
};
const isRight = ([title, wanted]) => typeof slug(title) === "string" && slug(title) === wanted;
const wrong = Object.entries(slugs).filter((pair) => !isRight(pair));
const counts = ["", " a ", "a b"].map((text) => words(text)).join();
console.log(wrong, counts);
process.exitCode = wrong.length > 0 || counts !== "0,1,2" ? 1 : 0;
