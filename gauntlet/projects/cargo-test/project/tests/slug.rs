mod common;

use common::titles;
use slugs::slug;

#[test]
fn letters_become_lower_case() {
    assert_eq!(slug("Title"), "title");
}

#[test]
fn letters_of_all_languages_stay() {
    assert_eq!(slug("Über uns"), "über-uns");
}

#[test]
fn titles_become_slugs() {
    for (title, wanted) in titles() {
        assert_eq!(slug(&title), wanted);
    }
}
