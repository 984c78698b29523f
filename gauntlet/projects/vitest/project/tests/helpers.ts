import { readFileSync } from "node:fs";

/** Titles, each with the slug that it must have. */
export function titles(): [string, string][] {
  return JSON.parse(readFileSync(new URL("./data/titles.json", import.meta.url), "utf8"));
}
