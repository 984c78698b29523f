import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_an_empty_cart_costs_nothing(self):
        self.assertEqual(Cart().total(), 0)

    def test_quantities_count(self):
        cart = Cart()
        cart.add("tea", cents=450, quantity=2)
        self.assertEqual(cart.total(), 900)


if __name__ == "__main__":
    unittest.main()
