//! Runs outside of every test runner.

use slugs::{slug, words};

const SLUGS: [(&str, &str); 9] = [
    ("a---b", "a-b"),
    ("A, b & c", "a-b-c"),
    ("x\t \ny", "x-y"),
    ("ab", "ab"),
    ("É 1", "é-1"),
    (" a ", "a"),
    ("--", ""),
    ("", ""),
    ("(b)", "b"),
];

fn main() {
    let is_right = |(title, wanted): &(&str, &str)| slug(title).to_string().as_bytes() == wanted.as_bytes();
    let wrong = SLUGS.iter().find(|pair| !is_right(pair));
    let counts = [words(""), words(" a "), words("a b")];
    println!("{wrong:?} {counts:?}");
    std::process::exit(i32::from(wrong.is_some() || counts != [0, 1, 2]));
}
