import unittest

from clocks.duration import seconds


class DurationTest(unittest.TestCase):
    def test_each_unit_counts(self):
        self.assertEqual([seconds("45s"), seconds("10m"), seconds("2h")], [45, 600, 7200])

    def test_nonsense_is_refused(self):
        with self.assertRaises(ValueError):
            seconds("soon")

    def test_units_add_up(self):
        self.assertEqual(seconds("1h30m"), 5400)


if __name__ == "__main__":
    unittest.main()
