/** Turns a title into the last part of an address. */
export function slug(title) {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "-");
}

/** Counts words. */
export function words(text) {
  return text.split(/\s+/).filter(Boolean).length;
}
