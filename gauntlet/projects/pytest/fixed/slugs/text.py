"""Small functions on text."""

import re


def slug(title):
    """Turns a title into the last part of an address."""
    return re.sub(r"[\W_]+", "-", title.lower()).strip("-")


def words(text):
    """Counts words."""
    return len(text.split())
