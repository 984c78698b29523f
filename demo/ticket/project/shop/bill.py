def total(prices):
    """The sum of prices in cents."""
    return sum(prices)
