from slugs.text import slug, words


def test_letters_become_lower_case():
    assert slug("Title") == "title"


def test_letters_of_all_languages_stay():
    assert slug("Über uns") == "über-uns"


def test_titles_become_slugs(titles):
    for title, wanted in titles:
        assert slug(title) == wanted


def test_words_are_counted():
    assert words("one two  three") == 3
