/** Turns a title into the last part of an address. */
export function slug(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "-");
}

/** Counts words. */
export function words(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
