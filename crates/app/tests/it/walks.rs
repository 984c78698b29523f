//! Every walk in `fixtures/walks`, as `remand walk` prints it.

use crate::{root, shown};

#[test]
fn each_walk_succeeds_with_the_expected_output() {
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

#[test]
fn the_walk_of_the_guide_prints_what_the_guide_says() {
    let guide = std::fs::read_to_string(root().join("docs/reference/walks.md")).expect("guide");
    let block = |kind: &str| {
        let (_, rest) = guide.split_once(&format!("```{kind}\n")).expect("block");
        rest.split_once("```").expect("end").0.to_string()
    };
    let folder = std::env::temp_dir().join(format!("remand-guide-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    let file = folder.join("walk.yaml");
    std::fs::write(&file, block("yaml")).expect("written");
    let printed = shown(&["walk", &file.display().to_string()]);
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(printed.contains(&block("text")), "{printed}");
}
