"""Durations as people write them."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """Gives the seconds of a duration such as 45s, 10m or 2h."""
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not number.isdigit():
        raise ValueError(f"not a duration: {text!r}")
    return int(number) * UNITS[unit]
