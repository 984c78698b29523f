use text::{slug, words};

#[test]
fn letters_become_lower_case() {
    assert_eq!(slug("Title"), "title");
}

#[test]
fn titles_become_slugs() {
    for (title, wanted) in [("two words", "two-words"), ("a  b", "a-b"), (" (both) ends ", "both-ends")] {
        assert_eq!(slug(title), wanted);
    }
}

#[test]
fn words_are_counted() {
    assert_eq!(words("one two  three"), 3);
}
