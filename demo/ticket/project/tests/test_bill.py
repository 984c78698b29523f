import unittest

from shop.bill import total


class BillTest(unittest.TestCase):
    def test_adds_up(self):
        self.assertEqual(total([100, 250]), 350)


if __name__ == "__main__":
    unittest.main()
