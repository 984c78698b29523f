//! Tests of the final commit, the hand-over and the rollback.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, get, git_in, git_output, no_hook_files, put};
use super::*;
use remand_process::testing::wait_for;
use remand_process::{Cancel, kill_marked};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

fn message() -> CommitMessage {
    CommitMessage {
        subject: "Add the thing".to_string(),
        body: "It was wanted.\n\n# not a comment".to_string(),
        trailers: vec![("Remand-Confidence".to_string(), "high".to_string())],
    }
}

/// A run with one new file on its main line.
fn run_with_work(bed: &Testbed) -> RunTrees {
    let trees = bed.run("r1");
    put(trees.main_tree().path(), "thing.txt", b"thing\n");
    let tree = trees.main_tree().snapshot().unwrap();
    trees.record(&tree, "work", "c1").unwrap();
    trees
}

fn commit_id(result: FinalCommit) -> CommitId {
    match result {
        FinalCommit::Committed { commit } => commit,
        other => panic!("{other:?}"),
    }
}

// CORE-19, EP-24
#[test]
fn the_final_commit_is_one_commit_on_the_runs_branch_in_the_users_name() {
    let bed = Testbed::new();
    let before = bed.fingerprint();
    let trees = run_with_work(&bed);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    assert_eq!(bed.git(&["rev-parse", "remand/r1"]), commit.as_str());
    assert_eq!(bed.git(&["rev-parse", "remand/r1^"]), trees.base().as_str());
    assert_eq!(bed.git(&["show", "--no-patch", "--format=%an %ce", "remand/r1"]), "Ada ada@example.org");
    assert_eq!(
        bed.git(&["show", "--no-patch", "--format=%B", "remand/r1"]),
        "Add the thing\n\nIt was wanted.\n\n# not a comment\n\nRemand-Confidence: high\nRemand-Run: r1\nRemand-Command: c2"
    );
    assert_eq!(bed.git(&["diff", "--name-only", "main", "remand/r1"]), "thing.txt");
    let after = bed.fingerprint();
    assert_eq!((after.0, after.1, after.2), (before.0, before.1, before.2));
    // The user can check out the branch immediately.
    bed.git(&["checkout", "-q", "remand/r1"]);
}

#[test]
fn repeating_a_command_does_not_commit_again() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    assert_eq!(
        commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap()),
        commit
    );
    let again = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
    assert_eq!(
        commit_id(again.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap()),
        commit
    );
}

#[test]
fn a_run_without_changes_has_nothing_to_commit() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    assert_eq!(
        trees.commit(&FileContents::new(), &message(), "c1", &no_hook_files).unwrap(),
        FinalCommit::NothingToCommit
    );
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
}

#[test]
fn the_users_hooks_run_only_for_the_final_commit_and_see_its_branch() {
    let bed = Testbed::new();
    let log = bed.folder.path().join("hooks");
    for hook in ["pre-commit", "commit-msg", "post-commit", "post-checkout", "reference-transaction"] {
        let script = format!("echo \"{hook} $(git symbolic-ref -q --short HEAD)\" >> '{}'", log.display());
        bed.hook(hook, &script);
    }
    let trees = run_with_work(&bed);
    assert!(!log.exists(), "{}", fs::read_to_string(&log).unwrap());
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    let logged = fs::read_to_string(&log).unwrap();
    for hook in ["pre-commit", "commit-msg", "post-commit"] {
        assert!(logged.contains(&format!("{hook} remand/r1\n")), "{logged}");
    }
}

#[test]
fn hooks_in_a_configured_folder_run() {
    let bed = Testbed::new();
    let folder = bed.folder.path().join("my hooks");
    put(&folder, "pre-commit", b"#!/bin/sh\necho no thanks; exit 1\n");
    fs::set_permissions(folder.join("pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
    bed.git(&["config", "core.hooksPath", folder.to_str().unwrap()]);
    let trees = run_with_work(&bed);
    let FinalCommit::HookRefused { output } =
        trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap()
    else {
        panic!()
    };
    assert_eq!(output, "no thanks");
}

#[test]
fn a_hook_that_rejects_the_commit_leaves_no_branch_and_the_work_unchanged() {
    let bed = Testbed::new();
    bed.hook("pre-commit", "echo 'line too long' >&2; exit 1");
    let trees = run_with_work(&bed);
    let result = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap();
    assert_eq!(result, FinalCommit::HookRefused { output: "line too long".to_string() });
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
    assert_eq!(trees.main_tree().snapshot().unwrap(), trees.main_state().unwrap().tree);
    assert_eq!(git_in(trees.main_tree().path(), &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
    bed.hook("pre-commit", "exit 0");
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
}

#[test]
fn files_that_a_hook_changed_can_be_verified_and_committed_again() {
    let bed = Testbed::new();
    bed.hook("pre-commit", "printf 'formatted\\n' > thing.txt; git add thing.txt");
    let trees = run_with_work(&bed);
    let FinalCommit::HookChangedTree { tree, .. } =
        trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap()
    else {
        panic!()
    };
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
    assert_eq!(get(trees.main_tree().path(), "thing.txt").unwrap(), b"formatted\n");
    assert_eq!(trees.main_tree().snapshot().unwrap(), tree);
    trees.record(&tree, "What the hook changed", "c3").unwrap();
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c4", &no_hook_files).unwrap());
    assert_eq!(bed.git(&["show", &format!("{commit}:thing.txt")]), "formatted");
}

#[test]
fn a_hook_that_changes_files_and_rejects_the_commit_is_treated_like_one_that_only_changes_files() {
    let bed = Testbed::new();
    bed.hook(
        "pre-commit",
        "grep -q formatted thing.txt || { echo formatted > thing.txt; echo fixed; exit 1; }",
    );
    let trees = run_with_work(&bed);
    let FinalCommit::HookChangedTree { tree, output } =
        trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap()
    else {
        panic!()
    };
    assert_eq!(output, "fixed");
    trees.record(&tree, "What the hook changed", "c3").unwrap();
    commit_id(trees.commit(&FileContents::new(), &message(), "c4", &no_hook_files).unwrap());
}

#[test]
fn a_hook_that_always_changes_files_prevents_every_commit() {
    let bed = Testbed::new();
    bed.hook("pre-commit", "echo more >> thing.txt; git add thing.txt");
    let trees = run_with_work(&bed);
    for round in 0..2 {
        let FinalCommit::HookChangedTree { tree, .. } =
            trees.commit(&FileContents::new(), &message(), &format!("c{round}"), &no_hook_files).unwrap()
        else {
            panic!()
        };
        trees.record(&tree, "What the hook changed", &format!("r{round}")).unwrap();
    }
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
}

#[test]
fn a_hook_that_rewrites_the_message_does_not_make_a_second_commit() {
    let bed = Testbed::new();
    bed.hook("commit-msg", "echo 'All mine' > \"$1\"");
    let trees = run_with_work(&bed);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    assert_eq!(bed.git(&["log", "-1", "--format=%B", "remand/r1"]), "All mine");
    assert_eq!(
        commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap()),
        commit
    );
}

#[test]
fn a_failing_signer_is_reported_and_internal_commits_do_not_use_it() {
    let bed = Testbed::new();
    bed.git(&["config", "commit.gpgSign", "true"]);
    bed.git(&["config", "gpg.program", "false"]);
    let trees = run_with_work(&bed);
    let refused = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap_err();
    assert!(matches!(refused, GitError::SigningFailed { .. }), "{refused:?}");
    assert!(refused.hint().contains("commit.gpgSign"));
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
    // For a missing SSH key, git prints only its name.
    bed.git(&["config", "gpg.format", "ssh"]);
    bed.git(&["config", "user.signingkey", "/nowhere/key.pub"]);
    let refused = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap_err();
    assert!(matches!(refused, GitError::SigningFailed { .. }), "{refused:?}");
    assert!(refused.to_string().contains("/nowhere/key.pub"), "{refused}");
    bed.git(&["config", "commit.gpgSign", "false"]);
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
}

#[test]
fn the_error_for_a_missing_user_name_says_how_to_set_one() {
    let bed = Testbed::new();
    bed.git(&["config", "--remove-section", "user"]);
    bed.git(&["config", "user.useConfigOnly", "true"]);
    let trees = run_with_work(&bed);
    let refused = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap_err();
    assert!(matches!(refused, GitError::NoIdentity { .. }), "{refused:?}");
    assert!(refused.hint().contains("git config user.name"));
}

// CORE-08
#[test]
fn an_interrupted_commit_leaves_nothing_and_can_be_repeated() {
    let bed = Testbed::new();
    bed.hook("post-commit", "kill -9 $PPID");
    let trees = run_with_work(&bed);
    let before = bed.fingerprint();
    assert!(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).is_err());
    assert_eq!(bed.fingerprint(), before);
    fs::remove_file(bed.user().join(".git/hooks/post-commit")).unwrap();
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
}

#[test]
fn a_hook_sees_the_users_branches_and_settings_but_cannot_change_them() {
    let bed = Testbed::new();
    bed.git(&["config", "my.setting", "blue"]);
    bed.hook(
        "pre-commit",
        "test \"$(git config my.setting)\" = blue && git rev-parse -q --verify main && git diff --cached --quiet main -- README.md \
         && git branch mine && git config my.setting red && git tag -f v1",
    );
    let trees = run_with_work(&bed);
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    assert_eq!(bed.git(&["config", "my.setting"]), "blue");
    assert_eq!(
        bed.git(&["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"]),
        "refs/heads/main\nrefs/heads/remand/r1"
    );
}

#[test]
fn a_hook_that_makes_its_own_commit_prevents_the_commit() {
    let bed = Testbed::new();
    bed.hook("post-commit", "test -n \"$AGAIN\" || AGAIN=1 git commit -q --allow-empty --no-verify -m mine");
    let trees = run_with_work(&bed);
    let result = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap();
    assert!(matches!(result, FinalCommit::HookRefused { .. }), "{result:?}");
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
}

#[test]
fn a_commit_is_signed_by_the_users_signer_after_the_hooks() {
    let bed = Testbed::new();
    let signer = bed.folder.path().join("signer");
    put(bed.folder.path(), "signer", b"#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\necho\necho mine\necho '-----END PGP SIGNATURE-----'\n");
    fs::set_permissions(&signer, fs::Permissions::from_mode(0o755)).unwrap();
    bed.git(&["config", "commit.gpgSign", "true"]);
    bed.git(&["config", "gpg.program", signer.to_str().unwrap()]);
    bed.hook("commit-msg", "echo 'Seen-By: a hook' >> \"$1\"");
    let trees = run_with_work(&bed);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    let raw = bed.git(&["cat-file", "commit", commit.as_str()]);
    assert!(raw.contains("gpgsig") && raw.contains("mine"), "{raw}");
    assert!(raw.ends_with("Seen-By: a hook"), "{raw}");
}

// CORE-19
#[test]
fn hooks_in_a_tracked_folder_come_from_the_commit_whatever_the_spelling_of_the_path() {
    for spelling in [".hooks", "./.hooks"] {
        let bed = Testbed::new();
        bed.write(".hooks/pre-commit", "#!/bin/sh\necho of the commit; exit 1\n");
        fs::set_permissions(bed.user().join(".hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
        bed.commit("hooks");
        bed.git(&["config", "core.hooksPath", spelling]);
        let trees = run_with_work(&bed);
        bed.write(".hooks/pre-commit", "#!/bin/sh\nexit 0\n");
        let result = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap();
        assert!(
            matches!(&result, FinalCommit::HookRefused { output } if output == "of the commit"),
            "{result:?}"
        );
        assert!(trees.main_tree().path().join(".hooks/pre-commit").exists());
    }
}

// CORE-19
#[test]
fn hooks_in_an_untracked_folder_run_next_to_the_committed_files_and_are_not_committed() {
    let bed = Testbed::new();
    bed.write(".husky/pre-commit", "echo one\n");
    bed.commit("hooks");
    put(&bed.user(), ".husky/_/.gitignore", b"*\n");
    put(
        &bed.user(),
        ".husky/_/pre-commit",
        b"#!/bin/sh\ngit add -A\nsh \"$(dirname \"$(dirname \"$0\")\")/pre-commit\"\n",
    );
    fs::set_permissions(bed.user().join(".husky/_/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
    bed.git(&["config", "core.hooksPath", ".husky/_"]);
    let trees = bed.run("r1");
    let main = trees.main_tree();
    put(main.path(), ".husky/pre-commit", b"echo two >&2\nexit 1\n");
    put(main.path(), "thing.txt", b"thing\n");
    trees.record(&main.snapshot().unwrap(), "work", "c1").unwrap();
    // The state that a killed engine leaves.
    put(main.path(), ".husky/_/.gitignore", b"*\n");
    let result = trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap();
    assert!(matches!(&result, FinalCommit::HookRefused { output } if output == "two"), "{result:?}");
    assert!(!main.path().join(".husky/_").exists());
    put(main.path(), ".husky/pre-commit", b"exit 0\n");
    trees.record(&main.snapshot().unwrap(), "work", "c3").unwrap();
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c4", &no_hook_files).unwrap());
    let files = bed.git(&["show", "--format=", "--name-only", commit.as_str()]);
    assert_eq!(files, ".husky/pre-commit\nthing.txt");
    assert!(trees.take_warnings().is_empty());
}

// CORE-19
#[test]
fn a_missing_hooks_folder_is_reported_as_a_warning() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    bed.git(&["config", "core.hooksPath", "no/such"]);
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    let warnings = trees.take_warnings();
    assert!(
        warnings.len() == 1 && warnings[0].contains("`no/such`") && warnings[0].contains("no hooks ran"),
        "{warnings:?}"
    );
}

// CORE-19
#[test]
fn files_that_are_added_for_hooks_are_not_committed() {
    let bed = Testbed::new();
    bed.hook("pre-commit", "test -e 'odd [names] here/tool' && git add -A");
    let trees = run_with_work(&bed);
    let set_up = |tree: &std::path::Path| {
        put(tree, "odd [names] here/tool", b"tool");
        Ok(HookFiles { added: vec!["odd [names] here".into()], reads: Vec::new() })
    };
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &set_up).unwrap());
    assert_eq!(bed.git(&["show", "--format=", "--name-only", commit.as_str()]), "thing.txt");
    assert!(!trees.main_tree().path().join("odd [names] here").exists());
}

// CORE-17
#[test]
fn cancelling_a_command_ends_a_waiting_signer_and_leaves_no_commit() {
    let bed = Testbed::new();
    let (signer, started) = (bed.folder.path().join("signer"), bed.folder.path().join("started"));
    let script = format!("#!/bin/sh\nsleep 1000 &\necho $! >'{}'\nwait\n", started.display());
    put(bed.folder.path(), "signer", script.as_bytes());
    fs::set_permissions(&signer, fs::Permissions::from_mode(0o755)).unwrap();
    let trees = run_with_work(&bed);
    bed.git(&["config", "commit.gpgSign", "true"]);
    bed.git(&["config", "gpg.program", signer.to_str().unwrap()]);
    let (cancel, marker) = (Cancel::new(), format!("{}/c2", bed.folder.path().display()));
    let command = trees.for_command(marker.clone(), &cancel);
    let before = bed.fingerprint();
    let result = thread::scope(|scope| {
        let committing =
            scope.spawn(|| command.commit(&FileContents::new(), &message(), "c2", &no_hook_files));
        wait_for(&started);
        cancel.cancel();
        committing.join().unwrap()
    });
    assert!(matches!(result, Err(GitError::Cancelled)), "{result:?}");
    assert_eq!(kill_marked(&marker), 0, "no process is left");
    assert_eq!(bed.fingerprint(), before);
    bed.git(&["config", "commit.gpgSign", "false"]);
    commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
}

// CORE-05
#[test]
fn a_relative_path_to_a_signer_refers_to_the_checkout() {
    let bed = Testbed::new();
    put(
        &bed.user(),
        "sign",
        b"#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho of the user\n",
    );
    fs::set_permissions(bed.user().join("sign"), fs::Permissions::from_mode(0o755)).unwrap();
    bed.commit("a signer");
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    put(
        tree.path(),
        "sign",
        b"#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho of an agent\n",
    );
    trees.record(&tree.snapshot().unwrap(), "work", "c1").unwrap();
    bed.git(&["config", "commit.gpgSign", "true"]);
    bed.git(&["config", "gpg.program", "./sign"]);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    let raw = bed.git(&["cat-file", "commit", commit.as_str()]);
    assert!(raw.contains("of the user") && !raw.contains("of an agent"), "{raw}");
}

// OT-19, OT-21, DR-19
#[test]
fn documents_and_scaffolds_are_committed_on_the_branch_without_hooks() {
    let bed = Testbed::new();
    bed.hook("pre-commit", "exit 1");
    let trees = run_with_work(&bed);
    let file = |name: &str, text: &str| FileContents::from([(name.into(), Some(text.as_bytes().to_vec()))]);
    let titled = |subject: &str| CommitMessage { subject: subject.to_string(), ..CommitMessage::default() };
    assert_eq!(trees.tip().unwrap().commit, *trees.base());
    let design = trees.with_files(&trees.tip().unwrap().tree, &file("docs/design.md", "one\n")).unwrap();
    let first = trees.commit_on_branch(&design, &titled("design: one"), "c2").unwrap();
    assert_eq!(trees.commit_on_branch(&design, &titled("design: one"), "c2").unwrap(), first);
    assert_eq!(trees.tip().unwrap().commit, first);
    fs::remove_file(bed.user().join(".git/hooks/pre-commit")).unwrap();
    let documents = file("docs/design.md", "two\n");
    commit_id(trees.commit(&documents, &message(), "c3", &no_hook_files).unwrap());
    let changes =
        FileContents::from([("TODO/7.md".into(), Some(b"Done\n".to_vec())), ("README".into(), None)]);
    let tree = trees.with_files(&trees.tip().unwrap().tree, &changes).unwrap();
    trees.commit_on_branch(&tree, &titled("chore(todo): close"), "c4").unwrap();
    assert_eq!(
        bed.git(&["log", "--format=%an: %s", "main..remand/r1"]),
        "Ada: chore(todo): close\nAda: Add the thing\nAda: design: one"
    );
    assert_eq!(bed.git(&["show", "remand/r1:docs/design.md"]), "two");
    assert_eq!(bed.git(&["show", "remand/r1:thing.txt"]), "thing");
    assert_eq!(bed.git(&["status", "--porcelain"]), "");

    let rollback = trees.rollback().unwrap();
    assert_eq!(bed.git(&["diff", "--name-only", "main", "remand/r1"]), "");
    assert!(rollback.command().unwrap().starts_with(&format!("git revert {first}^..")), "{rollback:?}");
}

// OT-21
#[test]
fn a_hand_over_follows_documents_and_is_replaced_by_later_documents() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    let titled = |subject: &str| CommitMessage { subject: subject.to_string(), ..CommitMessage::default() };
    let note = |text: &str| FileContents::from([("note.md".into(), Some(text.as_bytes().to_vec()))]);
    let tree = trees.with_files(&trees.base_tree().unwrap(), &note("a\n")).unwrap();
    let first = trees.commit_on_branch(&tree, &titled("a"), "c2").unwrap();
    trees.hand_over("c3").unwrap();
    assert_eq!(bed.git(&["rev-parse", "remand/r1^"]), first.as_str());
    let tree = trees.with_files(&trees.tip().unwrap().tree, &note("b\n")).unwrap();
    trees.commit_on_branch(&tree, &titled("b"), "c4").unwrap();
    assert_eq!(bed.git(&["log", "--format=%s", "main..remand/r1"]), "b\na");
}

// EP-24
#[test]
fn a_hand_over_can_be_merged_discarded_and_replaced_by_a_commit() {
    let bed = Testbed::new();
    bed.hook("pre-commit", "exit 1");
    let trees = run_with_work(&bed);
    let before = bed.fingerprint();
    let hand_over = trees.hand_over("c2").unwrap();
    assert_eq!(trees.hand_over("c2").unwrap(), hand_over);
    assert_eq!(
        bed.git(&["log", "-1", "--format=%(trailers:key=Remand-Handed-Over,valueonly)", "remand/r1"]),
        "yes"
    );
    assert_eq!(get(&hand_over.work_tree, "thing.txt").unwrap(), b"thing\n");
    let after = bed.fingerprint();
    assert_eq!((after.0, after.1, after.2), (before.0, before.1, before.2));

    let words: Vec<&str> = hand_over.take.split(' ').skip(1).collect();
    bed.git(&words);
    assert_eq!(bed.git(&["diff", "--cached", "--name-only"]), "thing.txt");
    bed.git(&["reset", "-q", "--hard"]);

    assert!(matches!(
        trees.commit(&FileContents::new(), &message(), "c3", &no_hook_files).unwrap(),
        FinalCommit::HookRefused { .. }
    ));
    assert_eq!(bed.git(&["rev-parse", "remand/r1"]), hand_over.commit.as_str());
    fs::remove_file(bed.user().join(".git/hooks/pre-commit")).unwrap();
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c3", &no_hook_files).unwrap());
    assert_eq!(bed.git(&["rev-parse", "remand/r1"]), commit.as_str());
    let words: Vec<&str> = hand_over.discard.split(' ').skip(1).collect();
    bed.git(&words);
}

#[test]
fn a_branch_with_commits_of_others_is_not_moved() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    bed.git(&["checkout", "-q", "-b", "remand/r1"]);
    bed.write("mine", "x");
    bed.commit("mine");
    let tip = bed.git(&["rev-parse", "HEAD"]);
    assert!(matches!(
        trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files),
        Err(GitError::BranchTaken { .. })
    ));
    assert!(matches!(trees.hand_over("c3"), Err(GitError::BranchTaken { .. })));
    assert_eq!(bed.git(&["rev-parse", "remand/r1"]), tip);
}

#[test]
fn a_rollback_reverts_the_commit_once_and_gives_the_command_for_other_branches() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    assert_eq!(trees.rollback().unwrap(), RollbackResult::NothingCommitted);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    let RollbackResult::Reverted { commits, by } = trees.rollback().unwrap() else { panic!() };
    assert_eq!((&commits.first, &commits.last), (&commit, &commit));
    assert_eq!(bed.git(&["rev-parse", "remand/r1"]), by.as_str());
    assert_eq!(bed.git(&["diff", "--name-only", "main", "remand/r1"]), "");
    assert_eq!(bed.git(&["log", "-1", "--format=%an: %s", "remand/r1"]), "Ada: Revert \"Add the thing\"");
    let again = rollback(&bed.repository(), "r1").unwrap();
    assert_eq!(again, RollbackResult::AlreadyReverted { commits, by });
    assert_eq!(again.command().unwrap(), format!("git revert {commit}"));
}

#[test]
fn a_rollback_finds_the_commit_below_a_hundred_later_ones() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    bed.git(&["checkout", "-q", "remand/r1"]);
    for _ in 0..100 {
        bed.git(&["commit", "-q", "--allow-empty", "-m", "on top"]);
    }
    bed.git(&["checkout", "-q", "main"]);
    let RollbackResult::Reverted { commits, .. } = trees.rollback().unwrap() else { panic!() };
    assert_eq!(commits.last, commit);
}

#[test]
fn a_rollback_does_not_touch_a_checked_out_branch_or_later_work() {
    let bed = Testbed::new();
    let trees = run_with_work(&bed);
    let commit = commit_id(trees.commit(&FileContents::new(), &message(), "c2", &no_hook_files).unwrap());
    bed.git(&["checkout", "-q", "remand/r1"]);
    assert!(matches!(trees.rollback().unwrap(), RollbackResult::CheckedOut { .. }));
    bed.write("thing.txt", "thing, improved\n");
    bed.commit("on top");
    bed.git(&["checkout", "-q", "main"]);
    trees.discard(BranchFate::KeepIfItHoldsWork).unwrap();
    let RollbackResult::Conflict { commits, paths } = rollback(&bed.repository(), "r1").unwrap() else {
        panic!()
    };
    assert_eq!((commits.last, paths.len()), (commit, 1));
    assert!(git_output(&bed.user(), &["diff", "--quiet", "HEAD"]).status.success());
}
