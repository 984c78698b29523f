use textkit::{slug, words};

#[test]
fn separators_of_any_kind_and_number_become_one_dash() {
    for (title, wanted) in [("a---b", "a-b"), ("A, b & c", "a-b-c"), ("x\t \ny", "x-y"), ("ab", "ab")] {
        assert_eq!(slug(title), wanted, "{title:?}");
    }
}

#[test]
fn there_is_no_dash_at_the_ends() {
    for (title, wanted) in [(" a ", "a"), ("--", ""), ("", ""), ("(b)", "b")] {
        assert_eq!(slug(title), wanted, "{title:?}");
    }
}

#[test]
fn words_are_counted_as_before() {
    assert_eq!([words(""), words(" a "), words("a b")], [0, 1, 2]);
}
