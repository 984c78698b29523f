//! Every walk in `fixtures/walks`, as `remand walk` prints it.

use crate::{root, shown};

#[test]
fn each_walk_goes_as_it_is_written() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("fixtures/walks"))
        .expect("walks")
        .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 3);
    for name in names {
        let text = shown(&["walk", &format!("fixtures/walks/{name}")]);
        assert!(text.contains("exit code 0"), "{text}");
        insta::assert_snapshot!(format!("walk-{}", name.trim_end_matches(".yaml")), text);
    }
}
