//! Tests of reading changes that people made outside of runs.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::Testbed;
use super::*;
use std::fs;
use std::path::{Path, PathBuf};

fn text(bed: &Testbed, tree: &TreeId, file: &str) -> Option<String> {
    let bytes = bed.repository().read(tree, Path::new(file)).unwrap();
    bytes.map(|bytes| String::from_utf8(bytes).unwrap())
}

// BY-02
#[test]
fn staged_and_uncommitted_content_is_read_and_the_checkout_stays_as_it_is() {
    let bed = Testbed::new();
    let repository = bed.repository();
    fs::create_dir_all(bed.runs()).unwrap();
    bed.write("README.md", "staged\n");
    bed.git(&["add", "README.md"]);
    bed.write("README.md", "later\n");
    bed.write("new.txt", "new\n");
    bed.write("ignored.log", "noise\n");
    let before = (bed.git(&["status", "--porcelain"]), fs::read(bed.user().join(".git/index")).unwrap());

    let staged = repository.staged(None, &bed.runs()).unwrap();
    assert_eq!(text(&bed, &staged, "README.md").as_deref(), Some("staged\n"));
    assert_eq!(text(&bed, &staged, "new.txt"), None);
    let all = repository.uncommitted(&bed.runs()).unwrap();
    assert_eq!(text(&bed, &all, "README.md").as_deref(), Some("later\n"));
    assert_eq!(text(&bed, &all, "new.txt").as_deref(), Some("new\n"));
    assert_eq!(text(&bed, &all, "ignored.log"), None);

    let after = (bed.git(&["status", "--porcelain"]), fs::read(bed.user().join(".git/index")).unwrap());
    assert_eq!(before, after);
    assert_eq!(fs::read_dir(bed.runs()).unwrap().count(), 0, "the copies of the index are removed");
    let head = repository.head().unwrap().commit;
    let commit = repository.commit_of(&staged, &head, "Staged").unwrap();
    assert_eq!(repository.commit_of(&staged, &head, "Staged").unwrap(), commit);
    assert_eq!(repository.tree_of(&commit).unwrap(), staged);
}

// BY-02
#[test]
fn a_change_of_equal_size_right_after_a_commit_is_not_overlooked() {
    let bed = Testbed::new();
    let repository = bed.repository();
    fs::create_dir_all(bed.runs()).unwrap();
    let written = |file: &str| fs::metadata(bed.user().join(file)).unwrap().modified().unwrap();
    // As if the file was changed in the moment in which git wrote its index.
    let index = bed.user().join(".git/index");
    let time = written("README.md");
    fs::File::options().write(true).open(&index).unwrap().set_modified(time).unwrap();
    bed.write("README.md", "two\n");
    fs::File::options().write(true).open(bed.user().join("README.md")).unwrap().set_modified(time).unwrap();
    bed.git(&["config", "core.trustctime", "false"]);
    let tree = repository.uncommitted(&bed.runs()).unwrap();
    assert_eq!(text(&bed, &tree, "README.md").as_deref(), Some("two\n"));
}

// BY-02
#[test]
fn a_patch_is_applied_to_a_tree_or_refused_with_the_reason() {
    let bed = Testbed::new();
    let repository = bed.repository();
    fs::create_dir_all(bed.runs()).unwrap();
    bed.write("README.md", "two\n");
    let patch = format!("{}\n", bed.git(&["diff"]));
    bed.git(&["checkout", "-q", "--", "."]);
    let base = repository.tree_of(&bed.base()).unwrap();
    let patched = repository.with_patch(&base, patch.as_bytes(), &bed.runs()).unwrap().unwrap();
    assert_eq!(text(&bed, &patched, "README.md").as_deref(), Some("two\n"));
    let refused = repository.with_patch(&patched, patch.as_bytes(), &bed.runs()).unwrap().unwrap_err();
    assert!(refused.contains("README.md"), "{refused}");
}

// BY-02
#[test]
fn commits_are_merged_without_moving_a_branch() {
    let bed = Testbed::new();
    let base = bed.base();
    bed.git(&["checkout", "-q", "-b", "one"]);
    bed.write("README.md", "one changed\n");
    bed.commit("one");
    bed.git(&["checkout", "-q", "-b", "two", "main"]);
    bed.write("src/lib.rs", "fn a() {}\n\n\n\n\n\nfn c() {}\n");
    bed.commit("two");
    bed.git(&["checkout", "-q", "-b", "three", "main"]);
    bed.write("README.md", "three changed\n");
    bed.commit("three");
    let repository = bed.repository();
    let [one, two, three] = ["one", "two", "three"].map(|name| repository.commit(name).unwrap());
    let trees = bed.run("given");
    assert_eq!(trees.merge_commits(&base, &one, "m").unwrap(), CommitMerge::Merged(one.clone()));
    assert_eq!(trees.merge_commits(&one, &base, "m").unwrap(), CommitMerge::Merged(one.clone()));
    let CommitMerge::Merged(both) = trees.merge_commits(&one, &two, "m").unwrap() else {
        panic!("a conflict")
    };
    assert!(repository.contains(&both, &one).unwrap() && repository.contains(&both, &two).unwrap());
    let tree = repository.tree_of(&both).unwrap();
    assert_eq!(text(&bed, &tree, "README.md").as_deref(), Some("one changed\n"));
    assert!(text(&bed, &tree, "src/lib.rs").unwrap().contains("fn c()"));
    assert_eq!(
        trees.merge_commits(&both, &three, "m").unwrap(),
        CommitMerge::Conflict { paths: vec![PathBuf::from("README.md")] }
    );
    assert_eq!(repository.merge_base(&one, &two).unwrap(), Some(base));
    assert_eq!(bed.git(&["rev-parse", "one"]), one.as_str());
}

// BY-02
#[test]
fn a_branch_is_moved_forward_with_its_checkout_unless_changes_are_in_the_way() {
    let bed = Testbed::new();
    let base = bed.base();
    bed.git(&["checkout", "-q", "-b", "one"]);
    bed.write("README.md", "one changed\n");
    bed.commit("one");
    let repository = bed.repository();
    let one = repository.commit("one").unwrap();
    assert_eq!(repository.fast_forward("main", &base, &one).unwrap(), FastForward::Moved);
    assert_eq!(bed.git(&["rev-parse", "main"]), one.as_str());
    bed.git(&["branch", "-q", "two", base.as_str()]);
    bed.git(&["checkout", "-q", "two"]);
    bed.write("README.md", "mine\n");
    let refused = repository.fast_forward("two", &base, &one).unwrap();
    assert!(
        matches!(&refused, FastForward::Refused { output, .. } if output.contains("README.md")),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(bed.user().join("README.md")).unwrap(), "mine\n");
    bed.git(&["checkout", "-q", "--", "."]);
    assert_eq!(repository.fast_forward("two", &base, &one).unwrap(), FastForward::Moved);
    assert_eq!(fs::read_to_string(bed.user().join("README.md")).unwrap(), "one changed\n");
    assert!(matches!(repository.fast_forward("two", &base, &one), Err(GitError::ReferenceMoved { .. })));
}

// BY-02
#[test]
fn a_hook_that_lands_with_a_branch_does_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let bed = Testbed::new();
    bed.git(&["config", "core.hooksPath", "hooks"]);
    let base = bed.base();
    bed.git(&["checkout", "-q", "-b", "one"]);
    let ran = bed.user().join("ran");
    bed.write("hooks/post-merge", &format!("#!/bin/sh\ntouch '{}'\n", ran.display()));
    fs::set_permissions(bed.user().join("hooks/post-merge"), fs::Permissions::from_mode(0o755)).unwrap();
    bed.commit("one");
    let repository = bed.repository();
    let one = repository.commit("one").unwrap();
    bed.git(&["checkout", "-q", "main"]);
    assert_eq!(repository.fast_forward("main", &base, &one).unwrap(), FastForward::Moved);
    assert!(bed.user().join("hooks/post-merge").exists());
    assert!(!ran.exists(), "the hook ran");
}
