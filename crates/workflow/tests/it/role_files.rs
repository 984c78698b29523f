//! Role files: the keys of their front matter, and the part of the body that becomes the prompt.

use remand_workflow::diagnostic::Style;
use remand_workflow::keys::ROLE_KEYS;
use remand_workflow::permissions::Writable;
use remand_workflow::roles::{RESULTS, RoleSpec, Roles};
use remand_workflow::shipped;
use remand_workflow::source::SourceText;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn add_role(name: &str, text: &str) -> Roles {
    let mut roles = Roles::default();
    roles.add(name, &SourceText::new(format!("{name}.md"), text)).expect("accepted");
    roles
}

fn spec(roles: &Roles, title: &str) -> RoleSpec {
    roles.get(title).expect("a role").clone()
}

// CORE-09
#[test]
fn each_broken_role_file_is_refused_with_its_diagnostics() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("fixtures/roles/bad"))
        .expect("fixtures")
        .map(|entry| entry.expect("entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 9);
    for path in files {
        let name = path.file_stem().expect("stem").to_string_lossy().into_owned();
        let source = SourceText::new(format!("{name}.md"), std::fs::read_to_string(&path).expect("text"));
        let problems = Roles::default().add(&name, &source).expect_err("refused");
        let rendered: Vec<String> =
            problems.iter().map(|problem| problem.render(&source, Style::Plain)).collect();
        insta::with_settings!({ snapshot_path => "snapshots/roles", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, rendered.join("\n\n"));
        });
    }
}

#[test]
fn a_refused_file_leaves_the_roles_as_they_were() {
    let mut roles = Roles::shipped();
    let broken = SourceText::new("check.md", "---\nabout: Broken.\nsays: [done]\nresult: nothing\n---\n");
    assert!(roles.add("check", &broken).is_err());
    assert_eq!(spec(&roles, "check/code"), spec(&Roles::shipped(), "check/code"));
    assert_eq!(roles.prompt("check"), Roles::shipped().prompt("check"));
}

#[test]
fn missing_keys_of_a_contract_have_defaults() {
    let roles = add_role("plain", "---\nabout: Looks.\nsays: [done]\n---\n");
    let plain = spec(&roles, "plain");
    assert_eq!((plain.result.as_str(), plain.time), ("completion-contract", 30));
    assert_eq!((plain.shell, plain.network), (true, false));
    assert_eq!(plain.may_write, BTreeSet::from([Writable::Report]));
    assert!(plain.is_read_only());
}

#[test]
fn a_mode_inherits_result_time_and_permissions_unless_it_sets_them() {
    let text = "---\nabout: Codes.\nsays: [done]\nchanges: [code]\nresult: implementation-report\ntime: 60\n\
                may-write: [tree]\nshell: false\nnetwork: true\nremembers: true\nmodes:\n\
                \x20 same: {about: Codes., says: [done], changes: [code]}\n\
                \x20 other: {about: Looks., says: [done], result: verdict, time: 5, may-write: [report], shell: true, \
                network: false, remembers: false}\n---\n";
    let roles = add_role("coder", text);
    let (plain, same, other) =
        (spec(&roles, "coder"), spec(&roles, "coder/same"), spec(&roles, "coder/other"));
    assert_eq!(RoleSpec { title: plain.title.clone(), ..same }, plain);
    assert_eq!((other.result.as_str(), other.time, other.shell, other.network), ("verdict", 5, true, false));
    assert!(other.is_read_only() && !other.remembers);
}

#[test]
fn every_documented_key_is_read_and_no_other() {
    let values = BTreeMap::from([
        ("about", "Does all."),
        ("says", "[good, bad]"),
        ("mild", "bad"),
        ("findings", "true"),
        ("by-kind", "true"),
        ("changes", "[code]"),
        ("states-approach", "true"),
        ("guarded", "true"),
        ("delta", "true"),
        ("lists", "[tasks]"),
        ("judges", "[coverage]"),
        ("needs", "[plan or subject, report of test, evidence]"),
        ("result", "verdict"),
        ("time", "7"),
        ("may-write", "[task-files]"),
        ("shell", "false"),
        ("tree", "false"),
        ("network", "true"),
        ("remembers", "true"),
        ("model", "large"),
        ("modes", "{other: {about: Less., says: [good], may-write: [report]}}"),
    ]);
    let documented: BTreeSet<&str> = ROLE_KEYS.iter().map(|(key, _, _)| *key).collect();
    assert_eq!(documented, values.keys().copied().collect());
    let front: String = values.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    let all = spec(&add_role("all", &format!("---\n{front}---\n")), "all");
    assert_eq!((all.time, all.shell, all.network, all.guarded), (7, false, true, true));
    assert!(!all.tree && all.remembers);
    assert_eq!(all.judges, ["coverage"]);
    assert_eq!(all.model.as_deref(), Some("large"));
}

#[test]
fn the_guide_names_every_key_result_and_permission_to_write() {
    let guide = std::fs::read_to_string(root().join("docs/reference/roles.md")).expect("the guide");
    let rows: BTreeSet<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let keys = ROLE_KEYS.iter().map(|(key, _, _)| *key);
    let results = RESULTS.iter().map(|(name, _)| *name);
    let places = Writable::ALL.iter().map(|place| place.name());
    let known: BTreeSet<&str> = keys.chain(results).chain(places).collect();
    assert_eq!(rows, known);
}

#[test]
fn the_prompt_of_a_mode_has_the_common_part_and_its_own_section_only() {
    let text = "---\nabout: Reviews.\nsays: [yes]\nmodes:\n  a: {about: A., says: [yes]}\n  b: {about: B., says: \
                [yes]}\n  c: {about: C., says: [yes]}\n---\n\n# r\n\n## Purpose\n\nCommon.\n\n```text\n## Mode: a\n```\n\n\
                ## Mode: a\n\nOnly a.\n\n### Part\n\nStill a.\n\n## Never\n\nLast.\n\n## Mode: b\n\nOnly b.\n";
    let roles = add_role("r", text);
    let common = "# r\n\n## Purpose\n\nCommon.\n\n```text\n## Mode: a\n```\n\n## Never\n\nLast.\n";
    let prompt = |title: &str| roles.prompt(title).expect("a prompt");
    assert_eq!(prompt("r"), common);
    assert_eq!(prompt("r/a"), format!("{common}\n## Mode: a\n\nOnly a.\n\n### Part\n\nStill a.\n"));
    assert_eq!(prompt("r/b"), format!("{common}\n## Mode: b\n\nOnly b.\n"));
    assert_eq!(prompt("r/c"), common);
    assert_eq!(roles.prompt("r/d"), None);
    assert_eq!(roles.prompt("s"), None);
}

#[test]
fn a_file_of_the_user_replaces_the_shipped_one_with_all_its_modes() {
    let mut roles = Roles::shipped();
    let own = "---\nabout: Ours.\nsays: [acceptable]\n---\n\nOur own text.\n";
    roles.add("check", &SourceText::new(".remand/roles/check.md", own)).expect("accepted");
    assert_eq!(roles.prompt("check").as_deref(), Some("Our own text.\n"));
    assert!(roles.get("check/code").is_none() && roles.prompt("check/code").is_none());
    assert!(roles.get("simplify").is_some(), "other roles stay");
    let texts: BTreeMap<&str, &str> = roles.texts().collect();
    assert_eq!(texts.get("check"), Some(&own));
}

// CORE-18
#[test]
fn the_pinned_texts_equal_all_files_byte_for_byte() {
    let roles = Roles::shipped();
    let pinned: BTreeMap<&str, &str> = roles.texts().collect();
    assert_eq!(pinned, shipped::ROLES.iter().copied().collect());
}
