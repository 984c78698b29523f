import unittest

from clocks.duration import seconds


class OracleTest(unittest.TestCase):
    def test_units_of_any_number_add_up(self):
        cases = {"1h1m1s": 3661, "2h5s": 7205, "3m": 180, "0s": 0, "10h10m": 36600}
        self.assertEqual({text: seconds(text) for text in cases}, cases)

    def test_nonsense_is_refused(self):
        for text in ["", "h", "1", "1x", "1h30", "soon", "-1s"]:
            with self.subTest(text), self.assertRaises(ValueError):
                seconds(text)
