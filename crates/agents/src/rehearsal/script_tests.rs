//! Which entry a dispatch gets, and which scripts are rejected.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use std::path::Path;

fn info(role: &str, phase: &str, round: u32) -> DispatchInfo {
    DispatchInfo {
        run: "run-1".to_owned(),
        phase: phase.to_owned(),
        role: role.to_owned(),
        task: None,
        item: None,
        instance: None,
        round,
        attempt: 1,
        result: "/result".into(),
        tree: "/tree".into(),
        folder: "/folder".into(),
    }
}

fn rejection(text: &str) -> String {
    Script::parse(text, "r.yaml").expect_err("rejected").to_string()
}

fn printed(script: &Script, info: &DispatchInfo) -> Option<String> {
    match script.entry(info)?.actions.first()? {
        ScriptAction::Print(text) => Some(text.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_entry_with_the_most_keys_wins_and_the_first_on_a_tie() {
    let script = Script::parse(
        "rehearsal: 1\nabout: matching\ndispatches:\n\
         - {role: maker, do: [print: any]}\n\
         - {role: maker, do: [print: never]}\n\
         - {role: maker, phase: build, do: [print: phase]}\n\
         - {role: maker, round: 2, do: [print: round]}\n\
         - {role: maker, phase: build, round: 2, task: t1, item: t1, attempt: 1, do: [print: all]}\n",
        "r.yaml",
    )
    .unwrap();
    assert_eq!(printed(&script, &info("maker", "other", 1)).as_deref(), Some("any"));
    assert_eq!(printed(&script, &info("maker", "build", 1)).as_deref(), Some("phase"));
    assert_eq!(printed(&script, &info("maker", "build", 2)).as_deref(), Some("phase"));
    assert_eq!(printed(&script, &info("maker", "other", 2)).as_deref(), Some("round"));
    let mut all = info("maker", "build", 2);
    (all.task, all.item) = (Some("t1".to_owned()), Some("t1".to_owned()));
    assert_eq!(printed(&script, &all).as_deref(), Some("all"));
    all.attempt = 2;
    assert_eq!(printed(&script, &all).as_deref(), Some("phase"));
    assert_eq!(script.entry(&info("check", "build", 1)), None);
}

#[test]
fn a_role_without_a_mode_stands_for_its_modes_unless_another_entry_names_the_mode() {
    let script = Script::parse(
        "rehearsal: 1\nabout: modes\ndispatches:\n\
         - {role: check, phase: build, round: 1, do: [print: any]}\n\
         - {role: check/code, do: [print: code]}\n\
         - {role: maker/code, do: [print: never]}\n",
        "r.yaml",
    )
    .unwrap();
    let found = |role: &str| printed(&script, &info(role, "build", 1));
    assert_eq!(found("check/code").as_deref(), Some("code"));
    assert_eq!(found("check/plan").as_deref(), Some("any"));
    assert_eq!(found("check").as_deref(), Some("any"));
    assert_eq!(found("maker"), None);
}

#[test]
fn numbers_and_booleans_are_read_as_names() {
    let script = Script::parse(
        "rehearsal: 1\ndispatches:\n- {role: maker, task: 1, item: no, do: [print: 7]}\n",
        "r.yaml",
    )
    .unwrap();
    let mut matching = info("maker", "build", 1);
    (matching.task, matching.item) = (Some("1".to_owned()), Some("no".to_owned()));
    assert_eq!(printed(&script, &matching).as_deref(), Some("7"));
}

#[test]
fn an_unknown_key_is_rejected_with_its_location_and_the_nearest_name() {
    let text = "rehearsal: 1\ndispatches:\n  - role: maker\n    raund: 2\n";
    assert_eq!(rejection(text), "r.yaml:4:5: there is no key `raund`; did you mean `round`?");
    let text = "rehearsal: 1\ndispatches:\n  - role: maker\n    do:\n      - wriet: {path: a, text: b}\n";
    assert_eq!(rejection(text), "r.yaml:5:9: there is no action `wriet`; did you mean `write`?");
    let text =
        "rehearsal: 1\ndispatches:\n  - role: maker\n    do:\n      - patch: {path: a, fnd: b, replace: c}\n";
    assert_eq!(rejection(text), "r.yaml:5:26: there is no key `fnd`; did you mean `find`?");
    let far = rejection("rehearsal: 1\ndispatches: []\nxyzzy: 1\n");
    assert_eq!(far, "r.yaml:3:1: there is no key `xyzzy`; use one of rehearsal, about, dispatches");
}

#[test]
fn missing_and_malformed_values_are_rejected_with_their_location() {
    let entry =
        |action: &str| format!("rehearsal: 1\ndispatches:\n  - role: maker\n    do:\n      - {action}\n");
    for (text, expected) in [
        ("dispatches: []\n".to_owned(), "the key `rehearsal` is missing"),
        ("rehearsal: 1\ndispatches:\n  - phase: x\n".to_owned(), "the key `role` is missing"),
        (entry("write: {path: a}"), "give the content of the file as `text` or `base64`"),
        (entry("write: {path: a, text: b, base64: Yg==}"), "not both"),
        (entry("write: {path: a, base64: '*'}"), "not base64"),
        (entry("sleep: soon"), "`soon` is not a duration"),
        (entry("chmod: {path: a, mode: rwx}"), "`rwx` is not a mode"),
        (entry("hang: false"), "only `true` is allowed here"),
        (entry("exit: 300"), "`300` is not an exit code"),
        (entry("service: {status: 429, retry-after: 2s}"), "expected a whole number without a unit"),
        ("rehearsal: 1\ndispatches:\n  - {role: maker, round: x}\n".to_owned(), "expected a whole number"),
        (entry("service: {status: 200}"), "`200` is not an HTTP error status"),
        (entry("silent: true\n      - print: x"), "no action can follow action 1"),
        (entry("exit: 1\n      - print: x"), "no action can follow action 1"),
        ("rehearsal: 1\nrehearsal: 1\n".to_owned(), "rehearsal"),
        ("rehearsal: [\n".to_owned(), ""),
    ] {
        let error = rejection(&text);
        assert!(error.contains(expected), "{error}");
        assert!(error.starts_with("r.yaml:") && error.as_bytes()[7].is_ascii_digit(), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn another_version_and_a_missing_file_are_rejected() {
    assert!(rejection("rehearsal: 2\ndispatches: []\n").contains("version 2"));
    let error = Script::load(Path::new("/no/such/rehearsal.yaml")).unwrap_err();
    assert!(matches!(error, ScriptError::Unreadable { .. }));
}

#[test]
fn modes_durations_and_amounts_are_parsed() {
    let text = "rehearsal: 1\ndispatches:\n- role: m\n  usage: {tokens: 1200, money: 0.012}\n  model: m-1\n  do:\n\
                \x20 - chmod: {path: a, mode: 755}\n  - chmod: {path: a, mode: \"0644\"}\n  - sleep: 1m 30s\n  - sleep: 200ms\n";
    let script = Script::parse(text, "r.yaml").unwrap();
    let entry = &script.dispatches[0];
    let modes: Vec<u32> = entry
        .actions
        .iter()
        .filter_map(|action| match action {
            ScriptAction::Chmod(change) => Some(change.mode.0),
            _ => None,
        })
        .collect();
    assert_eq!(modes, [0o755, 0o644]);
    let times: Vec<u128> = entry
        .actions
        .iter()
        .filter_map(|action| match action {
            ScriptAction::Sleep(pause) => Some(pause.0.as_millis()),
            _ => None,
        })
        .collect();
    assert_eq!(times, [90_000, 200]);
    assert_eq!(
        entry.usage,
        Some(ScriptedUsage { tokens: Some(ScriptedTokens::Sum(1200)), money: Some(Money(12_000)) })
    );
}

#[test]
fn tokens_are_given_in_total_or_by_kind() {
    let tokens = |text: &str| {
        let script = format!("rehearsal: 1\ndispatches:\n- role: m\n  usage: {{tokens: {text}}}\n");
        Script::parse(&script, "r.yaml").map(|script| script.dispatches[0].usage.unwrap().tokens.unwrap())
    };
    assert_eq!(tokens("12").unwrap(), ScriptedTokens::Sum(12));
    let kinds = tokens("{input: 10, output: 2}").unwrap();
    assert_eq!(kinds, ScriptedTokens::Kinds(ScriptedTokenKinds { input: 10, output: 2, cached: 0 }));
    assert_eq!(kinds.total(), 12);
    for (text, expected) in
        [("-1", "`-1` is not a token count"), ("{in: 1}", "there is no key `in`"), ("many", "a token count")]
    {
        let error = tokens(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_examples_in_the_guide_are_valid() {
    let guide = include_str!("../../../../docs/reference/rehearsals.md");
    let examples: Vec<&str> =
        guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    // The third example is a demonstration, which has a different format.
    assert_eq!(examples.len(), 3);
    Script::parse(examples[0], "guide").expect("the first example");
    Script::parse(&format!("rehearsal: 1\ndispatches:\n{}", examples[1]), "guide")
        .expect("the second example");
}

#[test]
fn the_guide_lists_every_action_and_no_other() {
    let guide = include_str!("../../../../docs/reference/rehearsals.md");
    let table =
        guide.split("## Actions").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut named: Vec<&str> = rows.filter_map(|row| row.split(':').next()).collect();
    let error = rejection("rehearsal: 1\ndispatches:\n- {role: m, do: [xyzzy-plugh: 1]}\n");
    let mut known: Vec<&str> = error.split("use one of ").nth(1).expect("the list").split(", ").collect();
    named.sort_unstable();
    known.sort_unstable();
    assert_eq!(named, known);
}

#[test]
fn aliases_that_expand_exponentially_are_rejected() {
    let mut text = "rehearsal: 1\ndispatches:\n- role: m\n  do:\n  - result:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = format!("*a{}", level - 1);
        text += &format!("      a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", "));
    }
    assert!(rejection(&text).contains("alias"), "{}", rejection(&text));
}
