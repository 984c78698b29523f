//! Tests of finding a repository, of its id, and of facts about the checkout.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, git_in, put};
use super::*;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

fn kinds(bed: &Testbed) -> Vec<&'static str> {
    bed.repository().hygiene(&bed.base()).unwrap().iter().map(Hygiene::kind).collect()
}

// OT-01
#[test]
fn a_folder_that_no_run_can_start_from_is_rejected_with_a_hint() {
    let folder = TempDir::new().unwrap();
    let refused = Repository::discover(folder.path()).unwrap_err();
    assert!(matches!(refused, GitError::NotARepository { .. }), "{refused}");
    assert!(refused.hint().contains("git init"));

    git_in(folder.path(), &["init", "-q", "empty"]);
    let refused = Repository::discover(&folder.path().join("empty")).unwrap_err();
    assert!(matches!(refused, GitError::NoCommits { .. }), "{refused}");
    assert!(refused.hint().contains("git commit"));

    git_in(folder.path(), &["init", "-q", "--bare", "bare"]);
    let refused = Repository::discover(&folder.path().join("bare")).unwrap_err();
    assert!(matches!(refused, GitError::Bare { .. }), "{refused}");
    assert!(refused.hint().contains("clone"));

    let bed = Testbed::new();
    let refused = Repository::discover(&bed.user().join(".git")).unwrap_err();
    assert!(matches!(refused, GitError::InsideGitFolder { .. }), "{refused}");
}

#[test]
fn a_repository_is_found_from_a_folder_below_its_root() {
    let bed = Testbed::new();
    let found = Repository::discover(&bed.user().join("src")).unwrap();
    assert_eq!(found.root(), fs::canonicalize(bed.user()).unwrap());
    let head = found.head().unwrap();
    assert_eq!(head.branch.as_deref(), Some("main"));
    assert_eq!(head.commit.as_str(), bed.git(&["rev-parse", "HEAD"]));
    assert_eq!(found.commit("main").unwrap(), head.commit);
    assert!(matches!(found.commit("nowhere"), Err(GitError::UnknownRevision { .. })));
}

#[test]
fn the_identity_survives_a_clean_and_a_move_and_is_shared_by_work_trees() {
    let bed = Testbed::new();
    let id = bed.repository().identity().unwrap();
    assert_eq!(id.len(), 32);
    assert_eq!(bed.repository().identity().unwrap(), id);
    bed.git(&["clean", "-qxdf"]);
    bed.git(&["worktree", "add", "-q", "../second"]);
    assert_eq!(Repository::discover(&bed.folder.path().join("second")).unwrap().identity().unwrap(), id);
    let moved = bed.folder.path().join("moved");
    fs::rename(bed.user(), &moved).unwrap();
    assert_eq!(Repository::discover(&moved).unwrap().identity().unwrap(), id);
}

#[test]
fn concurrent_processes_get_the_same_identity() {
    let bed = Testbed::new();
    let repository = bed.repository();
    let ids: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| repository.identity().unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

// EP-02
#[test]
fn hygiene_reports_dirty_files_and_the_default_branch_without_writing_to_the_checkout() {
    let bed = Testbed::new();
    assert_eq!(kinds(&bed), ["default-branch"]);
    bed.git(&["checkout", "-q", "-b", "topic"]);
    assert!(kinds(&bed).is_empty());
    bed.write("README.md", "two\n");
    for number in 0..7 {
        bed.write(&format!("new {number}"), "x");
    }
    let before = bed.fingerprint();
    // A file that is rewritten with the same content makes git refresh its index.
    bed.write("src/lib.rs", &fs::read_to_string(bed.user().join("src/lib.rs")).unwrap());
    let found = bed.repository().hygiene(&bed.base()).unwrap();
    let [Hygiene::Dirty { count: 8, first }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(first.len(), 5);
    assert!(found[0].to_string().contains("8 uncommitted changes"), "{}", found[0]);
    assert_eq!(bed.fingerprint(), before);
}

// OT-01
#[test]
fn hygiene_reports_a_detached_head_and_a_merge_in_progress() {
    let bed = Testbed::new();
    bed.git(&["checkout", "-q", "--detach"]);
    assert_eq!(kinds(&bed), ["detached-head"]);
    assert_eq!(bed.repository().head().unwrap().branch, None);
    fs::write(bed.user().join(".git/MERGE_HEAD"), bed.git(&["rev-parse", "HEAD"])).unwrap();
    assert!(kinds(&bed).contains(&"in-progress"));
}

#[test]
fn hygiene_reports_submodules_large_files_sparse_and_shallow_checkouts() {
    let bed = Testbed::new();
    let other = Testbed::new();
    bed.git(&["checkout", "-q", "-b", "topic"]);
    bed.git(&["submodule", "--quiet", "add", other.user().to_str().unwrap(), "libs/other"]);
    put(&bed.user(), ".gitattributes", b"*.bin filter=lfs diff=lfs merge=lfs -text\n");
    bed.commit("more");
    let hygiene = |bed: &Testbed| bed.repository().hygiene(&bed.base()).unwrap();
    assert_eq!(hygiene(&bed), [], "the submodule can be filled, and there are no large files");
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n", "0".repeat(64));
    bed.write("art/a.bin", &pointer);
    bed.commit("a large file");
    fs::remove_dir_all(bed.user().join(".git/modules")).unwrap();
    fs::remove_file(bed.user().join("libs/other/.git")).unwrap();
    let files = vec![PathBuf::from("art/a.bin")];
    let missing_content = bed.repository().missing_content(&bed.base()).unwrap();
    assert_eq!(
        missing_content,
        [
            Hygiene::Submodules { absent: vec![PathBuf::from("libs/other")] },
            Hygiene::Lfs { files: files.clone(), installed: LfsInstalled::No }
        ]
    );
    bed.git(&["config", "filter.lfs.clean", "cat"]);
    bed.git(&["sparse-checkout", "set", "src"]);
    let found = hygiene(&bed);
    assert!(found.contains(&Hygiene::SparseCheckout), "{found:?}");
    assert!(found.contains(&Hygiene::Lfs { files, installed: LfsInstalled::Yes }), "{found:?}");

    other.write("later", "x");
    other.commit("second");
    let from = format!("file://{}", other.user().display());
    git_in(bed.folder.path(), &["clone", "-q", "--depth", "1", &from, "shallow"]);
    let shallow = Repository::discover(&bed.folder.path().join("shallow")).unwrap();
    let found = shallow.hygiene(&shallow.head().unwrap().commit).unwrap();
    assert!(found.contains(&Hygiene::ShallowClone), "{found:?}");
}
