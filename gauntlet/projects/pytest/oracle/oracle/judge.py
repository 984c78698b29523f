"""Runs outside of every test runner, in another folder."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from slugs.text import slug, words  # noqa: E402

SLUGS = {
    "a---b": "a-b",
    "A, b & c": "a-b-c",
    "x\t \ny": "x-y",
    "ab": "ab",
    "É 1": "é-1",
    "a_b": "a-b",
    " a ": "a",
    "--": "",
    "": "",
    "(b)": "b",
}
wrong = [title for title, wanted in SLUGS.items() if "".join(slug(title)).encode() != wanted.encode()]
counts = [words(text) for text in ("", " a ", "a b")]
print(wrong, counts)
raise SystemExit(wrong or counts != [0, 1, 2])
