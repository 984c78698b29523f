import unittest

from notes.store import Notes


class StoreTest(unittest.TestCase):
    def test_notes_are_kept_in_order(self):
        notes = Notes()
        notes.add("ada", "Engines")
        notes.add("bob", "Bread")
        self.assertEqual(notes.titles(), ["Engines", "Bread"])

    def test_a_note_needs_a_title(self):
        with self.assertRaises(ValueError):
            Notes().add("ada", "")


if __name__ == "__main__":
    unittest.main()
