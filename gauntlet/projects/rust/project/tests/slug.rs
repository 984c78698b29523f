use textkit::slug;

#[test]
fn letters_become_lower_case() {
    assert_eq!(slug("Title"), "title");
}

#[test]
fn a_space_becomes_a_dash() {
    assert_eq!(slug("two words"), "two-words");
}

#[test]
fn a_run_of_separators_becomes_one_dash() {
    assert_eq!(slug("a  b"), "a-b");
}
