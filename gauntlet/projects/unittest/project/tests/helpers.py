import json
import pathlib

DATA = pathlib.Path(__file__).parent / "data"


def titles():
    """Titles, each with the slug that it must have."""
    return json.loads((DATA / "titles.json").read_text())
