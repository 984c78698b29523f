import json
import pathlib

import pytest

DATA = pathlib.Path(__file__).parent / "data"


@pytest.fixture
def titles():
    """Titles, each with the slug that it must have."""
    return json.loads((DATA / "titles.json").read_text())
