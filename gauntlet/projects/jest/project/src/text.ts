/** Turns a title into the last part of an address. */
function slug(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "-");
}

/** Counts words. */
function words(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

module.exports = { slug, words };
