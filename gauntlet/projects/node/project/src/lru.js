/** Keeps a fixed number of entries and forgets the least recently used one. */
export class Lru {
  #room;
  #entries = new Map();

  constructor(room) {
    this.#room = room;
  }

  get(key) {
    return this.#entries.get(key);
  }

  set(key, value) {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#room) {
      this.#entries.delete(this.#entries.keys().next().value);
    }
  }

  get size() {
    return this.#entries.size;
  }
}
