//! Tests of filters and merge drivers that an agent could have written, in the real sandbox.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, get, put, task_tree};
use super::*;
use remand_process::Cancel;
use remand_process::testing::wait_for;
use std::fs;
use std::path::Path;
use std::thread;

/// A filter script that tries to write to a file outside the sandbox. It prints `out` or `in` instead of the content.
fn escape_script(outside: &Path) -> String {
    format!(
        "#!/bin/sh\ncat >/dev/null\necho taken 2>/dev/null >'{}' && echo out || echo in\n",
        outside.display()
    )
}

/// Configures scripts in the repository as filter and merge driver. Returns a file outside the sandbox.
fn configure_scripts(bed: &Testbed) -> std::path::PathBuf {
    let outside = bed.folder.path().join("outside");
    fs::write(&outside, "as it was").unwrap();
    bed.write(".gitattributes", "*.data filter=own\n*.list merge=own\n");
    bed.write("a.list", "one\n");
    for (name, text) in [("clean", "cat"), ("smudge", "cat"), ("merge", "exit 1")] {
        bed.write(&format!("own/{name}"), &format!("#!/bin/sh\n{text}\n"));
    }
    bed.commit("filters of the project");
    bed.git(&["config", "filter.own.clean", "sh own/clean %f"]);
    bed.git(&["config", "filter.own.smudge", "sh own/smudge %f"]);
    bed.git(&["config", "merge.own.driver", "sh own/merge %O %A %B"]);
    outside
}

// CORE-05
#[test]
fn an_agents_filter_cannot_access_outside_files_on_adding_or_checkout() {
    let bed = Testbed::new();
    let outside = configure_scripts(&bed);
    let tree = bed.run_in(&bed.confined(), "r1").main_tree();
    let before = tree.snapshot().unwrap();
    let script = escape_script(&outside);
    put(tree.path(), "own/clean", script.as_bytes());
    put(tree.path(), "own/smudge", script.replace(">/dev/null", ">&2").as_bytes());
    put(tree.path(), "x.data", b"content\n");
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.read(&after, Path::new("x.data")).unwrap().unwrap(), b"in\n");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "as it was");
    let files = contents(tree.path());
    tree.restore(&before).unwrap();
    tree.restore(&after).unwrap();
    assert_eq!(contents(tree.path()), files);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "as it was");
}

// CORE-05
#[test]
fn an_agents_merge_driver_merges_and_cannot_access_outside_files() {
    let bed = Testbed::new();
    let outside = configure_scripts(&bed);
    let trees = bed.run_in(&bed.confined(), "r1");
    let driver = format!(
        "#!/bin/sh\necho taken 2>/dev/null >'{}' && echo out >\"$2\" || cat \"$3\" >>\"$2\"\n",
        outside.display()
    );
    let planted = task_tree(&trees, "t0", &[("own/merge", &driver)]);
    let base = trees.base().clone();
    assert!(matches!(trees.merge("t0", &base, &planted, "c0").unwrap(), TaskMerge::Merged(_)));
    trees.give_back("t0").unwrap();
    let base = trees.main_state().unwrap().commit;
    for (task, command, text) in [("t1", "c1", "two\n"), ("t2", "c2", "three\n")] {
        let at = TaskStart::Tree(&trees.repository.tree_of(&base).unwrap());
        let tree = trees.lend(task, at).unwrap();
        put(tree.path(), "a.list", text.as_bytes());
        let tree = tree.snapshot().unwrap();
        assert!(matches!(trees.merge(task, &base, &tree, command).unwrap(), TaskMerge::Merged(_)), "{task}");
    }
    assert_eq!(get(trees.main_tree().path(), "a.list").unwrap(), b"two\nthree\n");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "as it was");
}

// CORE-05
#[test]
fn no_file_name_can_break_a_command_out_of_the_sandbox() {
    let bed = Testbed::new();
    let outside = configure_scripts(&bed);
    let tree = bed.run_in(&bed.confined(), "r1").main_tree();
    put(tree.path(), "own/clean", b"cat >/dev/null\nprintf '%s' \"$1\"\n");
    let overwrite = format!("echo taken >{}", outside.display().to_string().replace('/', "${PWD%%[!/]*}"));
    let names = [
        "a b'c\"d$(id)`id`;&.data".to_string(),
        format!("x\nEOF\n{overwrite}\n.data"),
        format!("'; {overwrite}; '.data"),
        "%f%%.data".to_string(),
    ];
    for name in &names {
        put(tree.path(), name, b"content\n");
    }
    let after = tree.snapshot().unwrap();
    for name in &names {
        let stored = tree.read(&after, Path::new(name)).unwrap().unwrap();
        assert_eq!(String::from_utf8(stored).unwrap(), *name);
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "as it was");
}

// CORE-05
#[test]
fn a_filter_process_for_many_files_runs_in_the_sandbox() {
    let bed = Testbed::new();
    bed.write(".gitattributes", "*.data filter=own\n");
    bed.commit("attributes");
    let filter = "import sys\n\ni, o = sys.stdin.buffer, sys.stdout.buffer\n\n\ndef get():\n    size = int(i.read(4) or b'0', 16)\n    \
               return i.read(size - 4) if size else None\n\n\ndef put(*texts):\n    for text in texts:\n        \
               o.write(b'%04x' % (len(text) + 4) + text if text is not None else b'0000')\n    o.flush()\n\n\n\
               def rest():\n    return list(iter(get, None))\n\n\nrest()\nput(b'git-filter-server\\n', b'version=2\\n', None)\n\
               rest()\nput(b'capability=clean\\n', None)\nwhile rest():\n    content = b''.join(rest())\n    \
               put(b'status=success\\n', None, content.upper(), None, None)\n";
    bed.git(&["config", "filter.own.process", "python3 -m own"]);
    let tree = bed.run_in(&bed.confined(), "r1").main_tree();
    put(tree.path(), "own.py", filter.as_bytes());
    for name in ["x.data", "y.data", "z.data"] {
        put(tree.path(), name, name.as_bytes());
    }
    let after = tree.snapshot().unwrap();
    for (name, text) in [("x.data", b"X.DATA"), ("y.data", b"Y.DATA"), ("z.data", b"Z.DATA")] {
        assert_eq!(tree.read(&after, Path::new(name)).unwrap().unwrap(), text);
    }
}

// CORE-17
#[test]
fn cancelling_a_command_ends_a_filter_that_hangs() {
    let bed = Testbed::new();
    configure_scripts(&bed);
    let cancel = Cancel::new();
    let marker = format!("{}/c1", bed.folder.path().display());
    let trees = bed.run_in(&bed.confined(), "r1").for_command(marker.clone(), &cancel);
    let tree = trees.main_tree();
    let scratch = bed.folder.path().join("scratch");
    put(tree.path(), "own/clean", b"echo started >\"$TMPDIR/started\"\nexec sleep 1000\n");
    put(tree.path(), "x.data", b"content\n");
    let result = thread::scope(|scope| {
        let snapshot = scope.spawn(|| tree.snapshot());
        let started = loop {
            let mut calls = fs::read_dir(&scratch).into_iter().flatten().flatten();
            if let Some(call) = calls.find(|call| call.path().join("started").exists()) {
                break call.path().join("started");
            }
            thread::yield_now();
        };
        wait_for(&started);
        cancel.cancel();
        snapshot.join().unwrap()
    });
    assert!(matches!(result, Err(GitError::Cancelled)), "{result:?}");
    assert_eq!(remand_process::kill_marked(&marker), 0);
    // The tree can still be restored.
    put(tree.path(), "own/clean", b"tr a-z A-Z\n");
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.read(&after, Path::new("x.data")).unwrap().unwrap(), b"CONTENT\n");
}

#[test]
fn a_failing_optional_filter_is_reported_with_its_original_command() {
    let bed = Testbed::new();
    configure_scripts(&bed);
    let trees = bed.run_in(&bed.confined(), "r1");
    let tree = trees.main_tree();
    put(tree.path(), "own/clean", b"exit 3\n");
    put(tree.path(), "x.data", b"content\n");
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.read(&after, Path::new("x.data")).unwrap().unwrap(), b"content\n");
    let warnings = trees.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("'sh own/clean %f' failed 3"), "{warnings:?}");
    bed.git(&["config", "filter.own.required", "true"]);
    put(tree.path(), "y.data", b"content\n");
    let refused = tree.snapshot().unwrap_err();
    assert!(matches!(refused, GitError::FilterFailed { .. }), "{refused}");
    assert!(!refused.to_string().contains("REMAND"), "{refused}");
}

// CORE-17
#[test]
fn a_filter_that_uses_more_memory_than_a_process_may_is_stopped() {
    let bed = Testbed::new();
    configure_scripts(&bed);
    bed.git(&["config", "filter.own.required", "true"]);
    let mut confined = bed.confined();
    confined.programs = confined.programs.with_changed_limits(|limits| {
        limits.policy.memory = Some(60_000_000);
    });
    let tree = bed.run_in(&confined, "r1").main_tree();
    let hog = "python3 -c \"import time; kept = bytearray(b'1' * 190_000_000); time.sleep(3)\"\ncat\n";
    put(tree.path(), "own/clean", hog.as_bytes());
    put(tree.path(), "x.data", b"content\n");
    let refused = tree.snapshot().unwrap_err();
    assert!(refused.to_string().contains("bytes of memory"), "{refused}");
}

// BX-06
#[test]
fn a_program_whose_sandbox_cannot_be_set_up_is_an_error_with_the_reason() {
    let bed = Testbed::new();
    let outside = configure_scripts(&bed);
    let trees = bed.run_in(&bed.unconfinable(), "r1");
    let tree = trees.main_tree();
    let script = escape_script(&outside);
    put(tree.path(), "own/clean", script.as_bytes());
    put(tree.path(), "x.data", b"content\n");
    let refused = tree.snapshot().unwrap_err();
    assert!(matches!(refused, GitError::NotStarted { .. }), "{refused}");
    assert!(refused.to_string().contains("/dev/null/none"), "{refused}");
    fs::remove_file(tree.path().join("x.data")).unwrap();
    let base = trees.base().clone();
    let one = task_tree(&trees, "t1", &[("a.list", "two\n")]);
    let two = task_tree(&trees, "t2", &[("a.list", "three\n")]);
    assert!(matches!(trees.merge("t1", &base, &one, "c1").unwrap(), TaskMerge::Merged(_)));
    let refused = trees.merge("t2", &base, &two, "c2").unwrap_err();
    assert!(matches!(refused, GitError::NotStarted { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "as it was");
    assert!(fs::read_dir(bed.folder.path().join("scratch")).unwrap().next().is_none());
}

// CORE-05
#[test]
fn without_limits_no_program_starts_and_content_stays_unchanged() {
    let bed = Testbed::new();
    configure_scripts(&bed);
    bed.git(&["config", "filter.own.required", "true"]);
    let repository = Repository::discover(&bed.user()).unwrap();
    let trees = bed.run_in(&repository, "r1");
    let tree = trees.main_tree();
    put(tree.path(), "own/clean", b"echo ran\n");
    put(tree.path(), "x.data", b"content\n");
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.read(&after, Path::new("x.data")).unwrap().unwrap(), b"content\n");
    let base = trees.base().clone();
    let one = task_tree(&trees, "t1", &[("a.list", "two\n")]);
    let two = task_tree(&trees, "t2", &[("a.list", "three\n")]);
    assert!(matches!(trees.merge("t1", &base, &one, "c1").unwrap(), TaskMerge::Merged(_)));
    assert!(matches!(trees.merge("t2", &base, &two, "c2").unwrap(), TaskMerge::Conflict { .. }));
}

#[test]
fn git_lfs_filters_and_removed_filters_need_no_sandbox() {
    let bed = Testbed::new();
    for (key, command) in [
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.smudge", "git-lfs smudge --skip -- %f"),
        ("filter.lfs.process", "git-lfs filter-process"),
        ("filter.off.clean", "own"),
    ] {
        bed.git(&["config", key, command]);
    }
    bed.git(&["config", "--add", "filter.off.clean", ""]);
    let has_startable = || {
        let programs = bed.repository().programs;
        programs.startable(&bed.user().join(".git"), None, programs::Writes::Nothing).unwrap().is_some()
    };
    assert!(!has_startable());
    bed.git(&["config", "lfs.extension.own.clean", "own"]);
    assert!(has_startable());
    bed.git(&["config", "--remove-section", "lfs.extension.own"]);
    bed.git(&["config", "filter.lfs.clean", "git-lfs clean -- %f; own"]);
    assert!(has_startable());
}
