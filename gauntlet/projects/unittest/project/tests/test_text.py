import unittest

from slugs.text import slug, words
from tests.helpers import titles


class SlugTest(unittest.TestCase):
    def test_letters_become_lower_case(self):
        self.assertEqual(slug("Title"), "title")

    def test_letters_of_all_languages_stay(self):
        self.assertEqual(slug("Über uns"), "über-uns")

    def test_titles_become_slugs(self):
        for title, wanted in titles():
            self.assertEqual(slug(title), wanted)


class WordsTest(unittest.TestCase):
    def test_words_are_counted(self):
        self.assertEqual(words("one two  three"), 3)


if __name__ == "__main__":
    unittest.main()
