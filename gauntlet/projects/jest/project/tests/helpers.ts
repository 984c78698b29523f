const titleList: [string, string][] = require("./data/titles.json");

/** Titles, each with the slug that it must have. */
function titles(): [string, string][] {
  return titleList;
}

module.exports = { titles };
