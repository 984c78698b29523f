/** Turns a title into the last part of an address. */
export function slug(title) {
  return title.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).join("-");
}

/** Counts words. */
export function words(text) {
  return text.split(/\s+/).filter(Boolean).length;
}
