use textkit::words;

#[test]
fn words_are_counted() {
    assert_eq!(words("one two  three"), 3);
}
