"""A shopping cart. Prices are whole cents."""


class Cart:
    def __init__(self):
        self._lines = []

    def add(self, name, cents, quantity=1):
        if quantity < 1:
            raise ValueError("quantity must be at least 1")
        self._lines.append((name, cents, quantity))

    def total(self):
        return sum(cents * quantity for _, cents, quantity in self._lines)
