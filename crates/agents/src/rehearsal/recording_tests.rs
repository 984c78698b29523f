//! A replayed recording does the same as the original, byte for byte.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use remand_process::Exit;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The content of one path in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File(Vec<u8>, u32),
    Link(PathBuf),
    Folder,
}

fn tree(root: &Path) -> BTreeMap<PathBuf, Node> {
    let mut nodes = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let node = if metadata.is_dir() {
                folders.push(path.clone());
                Node::Folder
            } else if metadata.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap())
            } else {
                Node::File(fs::read(&path).unwrap(), metadata.permissions().mode() & 0o777)
            };
            nodes.insert(path.strip_prefix(root).unwrap().to_owned(), node);
        }
    }
    nodes
}

fn changes(before: &BTreeMap<PathBuf, Node>, after: &BTreeMap<PathBuf, Node>) -> Vec<RecordedChange> {
    let kind = std::mem::discriminant::<Node>;
    let mut changes = Vec::new();
    for (path, old) in before {
        if after.get(path).is_none_or(|new| kind(new) != kind(old))
            && path.ancestors().skip(1).all(|above| !before.contains_key(above) || after.contains_key(above))
        {
            changes.push(RecordedChange::Delete { path: path.clone() });
        }
    }
    for (path, new) in after.iter().filter(|(path, new)| before.get(*path) != Some(new)) {
        let path = path.clone();
        changes.push(match (new, before.get(&path)) {
            (Node::File(bytes, mode), Some(Node::File(old, _))) if bytes == old => {
                RecordedChange::Chmod { path, mode: *mode }
            }
            (Node::File(bytes, mode), _) => {
                RecordedChange::Write { path, bytes: bytes.clone(), mode: Some(*mode) }
            }
            (Node::Link(target), _) => RecordedChange::Symlink { path, target: target.clone() },
            (Node::Folder, _) => RecordedChange::Mkdir { path },
        });
    }
    changes
}

fn stage(folder: &Path) -> DispatchInfo {
    let root = folder.join("tree");
    fs::create_dir_all(root.join("old/deep")).unwrap();
    fs::write(root.join("old/deep/file"), "x").unwrap();
    fs::write(root.join("kept"), "same").unwrap();
    fs::write(root.join("tool"), "#!/bin/sh\n").unwrap();
    fs::write(root.join("becomes-link"), "x").unwrap();
    std::os::unix::fs::symlink("kept", root.join("becomes-file")).unwrap();
    DispatchInfo {
        run: "run-1".to_owned(),
        phase: "build".to_owned(),
        role: "make".to_owned(),
        task: Some("t1".to_owned()),
        item: Some("t1".to_owned()),
        instance: None,
        round: 2,
        attempt: 1,
        result: folder.join("result"),
        tree: root,
        folder: folder.to_owned(),
    }
}

fn play_in(script: &Script, info: &DispatchInfo) -> (PlayEnding, Vec<u8>) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ending = perform(script, info, &mut out, &mut err);
    assert_eq!(String::from_utf8(err).unwrap(), "");
    (ending, out)
}

const ORIGINAL: &str = r#"
rehearsal: 1
about: what is recorded
dispatches:
  - role: make
    usage: {tokens: 12, money: 1.5}
    model: "model: 1"
    do:
      - write: {path: src/lib.rs, text: "fn f() {}\n\n  // indented\n"}
      - write: {path: "odd: name #1", text: "- no end of line"}
      - write: {path: crlf, text: "a\r\nb\r\n"}
      - write: {path: spaces, text: "  leading\ntrailing  \n\n\n"}
      - write: {path: tabs, text: "\tx\n\t\n"}
      - write: {path: empty, text: ""}
      - write: {path: like-yaml, text: "---\nno: yes\n...\n~\n"}
      - write: {path: separators, text: "a\u2028b\u0085c\uFEFFd"}
      - write: {path: binary, base64: AAECAwT/}
      - delete: old
      - chmod: {path: tool, mode: 755}
      - delete: becomes-link
      - symlink: {path: becomes-link, target: kept}
      - delete: becomes-file
      - write: {path: becomes-file, text: now a file}
      - mkdir: new/folder
      - answer: |
          All done: see `src/lib.rs`.
      - result: {payload: {summary: "a: b", findings: [], size: 1.5, big: 18446744073709551615, none: null}}
      - exit: 3
"#;

// BY-06, EP-28
#[test]
fn a_replayed_recording_gives_the_same_tree_result_answer_and_exit() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let info = stage(first.path());
    let before = tree(&info.tree);
    let (ending, out) = play_in(&Script::parse(ORIGINAL, "original").unwrap(), &info);
    assert_eq!(ending, PlayEnding::Exit(3));
    let after = tree(&info.tree);
    assert_ne!(before, after);
    let mut recording = Recording::new("a bug report");
    let recorded = RecordedDispatch {
        info: info.clone(),
        changes: changes(&before, &after),
        result: Some(fs::read(&info.result).unwrap()),
        answer: Some(String::from_utf8(out.clone()).unwrap()),
        stderr: None,
        usage: ScriptedUsage { tokens: Some(ScriptedTokens::Sum(12)), money: Some(Money(1_500_000)) },
        model: Some("model: 1".to_owned()),
        exit: Exit::Code(3),
    };
    recording.add(&recorded).unwrap();
    let yaml = recording.to_yaml().unwrap();
    let script = Script::parse(&yaml, "recorded").unwrap();
    assert_eq!(script, *recording.script());

    let again = stage(second.path());
    let (ending, out_again) = play_in(&script, &again);
    assert_eq!((ending, &out_again), (PlayEnding::Exit(3), &out));
    assert_eq!(tree(&again.tree), after, "{yaml}");
    assert_eq!(fs::read(&again.result).unwrap(), fs::read(&info.result).unwrap());
    let usage = |folder: &Path| fs::read(folder.join("usage.json")).unwrap();
    assert_eq!(usage(second.path()), usage(first.path()));

    let mut other = again;
    other.attempt = 2;
    assert!(script.entry(&other).is_none());
}

#[test]
fn every_exit_status_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let info = stage(folder.path());
    for (exit, ending) in [
        (Exit::Code(0), PlayEnding::Exit(0)),
        (Exit::Code(7), PlayEnding::Exit(7)),
        (Exit::Signal(11), PlayEnding::Crash(11)),
        (Exit::TimedOut, PlayEnding::Hang),
        (Exit::Silent, PlayEnding::Hang),
        (Exit::Cancelled, PlayEnding::Hang),
    ] {
        let mut recording = Recording::new("");
        let recorded = RecordedDispatch {
            info: info.clone(),
            changes: Vec::new(),
            result: None,
            answer: None,
            stderr: None,
            usage: ScriptedUsage::default(),
            model: None,
            exit,
        };
        recording.add(&recorded).unwrap();
        let script = Script::parse(&recording.to_yaml().unwrap(), "recorded").unwrap();
        assert_eq!(play_in(&script, &info).0, ending);
        assert!(!folder.path().join("usage.json").exists());
    }
}

#[test]
fn results_with_any_bytes_are_reproduced() {
    let folder = tempfile::tempdir().unwrap();
    let info = stage(folder.path());
    for bytes in [
        &b"{}\n"[..],
        b"{\"a\":1}",
        b"not json",
        b"",
        b"\xff\xfe",
        b"a\r\n\0",
        b"1e400\n",
        b"# x\n---\n- &a *a\n",
        b"\n",
        b" ",
    ] {
        let mut recording = Recording::new("");
        let recorded = RecordedDispatch {
            info: info.clone(),
            changes: Vec::new(),
            result: Some(bytes.to_vec()),
            answer: None,
            stderr: None,
            usage: ScriptedUsage::default(),
            model: None,
            exit: Exit::Code(0),
        };
        recording.add(&recorded).unwrap();
        let yaml = recording.to_yaml().unwrap();
        play_in(&Script::parse(&yaml, "recorded").unwrap(), &info);
        assert_eq!(fs::read(&info.result).unwrap(), bytes, "{yaml}");
    }
}

#[test]
fn text_is_recorded_in_readable_form() {
    let folder = tempfile::tempdir().unwrap();
    let info = stage(folder.path());
    let mut recording = Recording::new("readable");
    let recorded = RecordedDispatch {
        changes: vec![RecordedChange::Write {
            path: info.tree.join("a.rs"),
            bytes: b"fn a() {}\nfn b() {}\n".to_vec(),
            mode: None,
        }],
        info,
        result: None,
        answer: None,
        stderr: None,
        usage: ScriptedUsage::default(),
        model: None,
        exit: Exit::Code(0),
    };
    recording.add(&recorded).unwrap();
    let yaml = recording.to_yaml().unwrap();
    assert!(
        yaml.contains("path: a.rs") && yaml.contains("fn a() {}\n") && yaml.contains("fn b() {}\n"),
        "{yaml}"
    );
}

#[test]
fn a_large_recording_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let info = stage(folder.path());
    let bytes = "a line of some length, over and over again\n".repeat(200_000).into_bytes();
    let mut recording = Recording::new("large");
    let recorded = RecordedDispatch {
        changes: vec![RecordedChange::Write { path: "big".into(), bytes, mode: None }],
        info,
        result: None,
        answer: None,
        stderr: None,
        usage: ScriptedUsage::default(),
        model: None,
        exit: Exit::Code(0),
    };
    recording.add(&recorded).unwrap();
    assert!(recording.to_yaml().unwrap().len() > 8_000_000);
}

#[test]
fn the_content_of_a_deleted_folder_is_not_deleted_twice() {
    let folder = tempfile::tempdir().unwrap();
    let info = stage(folder.path());
    let delete = |path: &str| RecordedChange::Delete { path: path.into() };
    let mut recording = Recording::new("");
    let recorded = RecordedDispatch {
        info: info.clone(),
        changes: vec![delete("old/deep/file"), delete("old"), delete("kept"), delete("old/deep")],
        result: None,
        answer: None,
        stderr: None,
        usage: ScriptedUsage::default(),
        model: None,
        exit: Exit::Code(0),
    };
    recording.add(&recorded).unwrap();
    assert_eq!(play_in(recording.script(), &info).0, PlayEnding::Exit(0));
    assert!(!info.tree.join("old").exists() && !info.tree.join("kept").exists());
}

#[test]
fn a_path_that_is_not_utf8_is_rejected() {
    use std::os::unix::ffi::OsStringExt;
    let folder = tempfile::tempdir().unwrap();
    let path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0xff]));
    let recorded = RecordedDispatch {
        info: stage(folder.path()),
        changes: vec![RecordedChange::Delete { path }],
        result: None,
        answer: None,
        stderr: None,
        usage: ScriptedUsage::default(),
        model: None,
        exit: Exit::Code(0),
    };
    assert!(matches!(Recording::new("").add(&recorded), Err(RecordingError::Path { .. })));
}
