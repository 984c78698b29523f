//! The shipped roles: readable, used, uniform, and never asked for a number of findings.

use remand_workflow::permissions::Writable;
use remand_workflow::roles::Roles;
use remand_workflow::shipped;
use remand_workflow::source::SourceText;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_role_file_is_embedded_and_has_a_contract() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../roles");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("roles")
        .map(|entry| entry.expect("entry").path().file_stem().expect("stem").to_string_lossy().into_owned())
        .collect();
    let embedded: BTreeSet<String> = shipped::ROLES.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(files, embedded);
    for (name, text) in shipped::ROLES {
        let added = Roles::default().add(name, &SourceText::new(format!("{name}.md"), *text));
        assert!(added.is_ok(), "{name}: {added:?}");
    }
}

#[test]
fn every_shipped_role_is_used_by_a_shipped_workflow() {
    let mut used = BTreeSet::new();
    for (name, _) in shipped::WORKFLOWS {
        let compiled = remand_workflow::check_shipped(name).expect("shipped").compiled.expect("compiled");
        used.extend(compiled.program.contracts.iter().map(|contract| contract.title()));
    }
    let all: BTreeSet<String> = Roles::shipped().titles().map(str::to_string).collect();
    assert_eq!(all, used);
}

// CORE-23
#[test]
fn no_role_is_asked_for_a_number_of_findings() {
    for (name, text) in shipped::ROLES {
        assert_eq!(quota(text), None, "{name} asks for a number of findings");
    }
    assert!(quota("Find at least ten issues in the change.").is_some());
    assert!(quota("Report 3 to 5 findings.").is_some());
    assert!(quota("List a minimum of two problems.").is_some());
    assert!(quota("Come back with N issues.").is_some());
    assert!(quota("Report at least\nfour serious defects.").is_some());
    assert!(quota("There must be at least one serious defect.").is_some());
    assert_eq!(quota("Report every defect that you find; none is a good answer."), None);
}

/// The first sentence that asks for a number of findings, if any.
fn quota(text: &str) -> Option<String> {
    const NUMBERS: &[&str] =
        &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozen", "several"];
    const ASKED: &[&str] = &["finding", "issue", "problem", "defect", "bug", "flaw", "gap"];
    // A sentence may continue on the next line, but not past a blank line or into the next item.
    text.replace("\n\n", ".")
        .replace("\n- ", ".")
        .split(['.', ';'])
        .find(|sentence| {
            let words: Vec<String> = sentence
                .split(|letter: char| !letter.is_alphanumeric())
                .map(str::to_lowercase)
                .filter(|word| !word.is_empty())
                .collect();
            words.iter().enumerate().any(|(at, word)| {
                let number =
                    NUMBERS.contains(&word.as_str()) || word.chars().all(|letter| letter.is_ascii_digit());
                let least = word == "n" || word == "least" || word == "minimum" || word == "fewer";
                let after = words.iter().skip(at + 1).take(4);
                (number || least)
                    && after.clone().any(|word| ASKED.iter().any(|asked| word.starts_with(asked)))
            })
        })
        .map(|sentence| sentence.trim().to_string())
}

/// The headings of a role's body, in order; a section for each mode follows.
const SECTIONS: &[&str] = &["Purpose", "What you get", "What to do", "What you return", "Rules", "Never"];

fn headings(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let start = text.find(&format!("## {heading}\n")).expect("the section");
    let rest = &text[start + 3..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

/// Words in lower case, without text in backticks.
fn words(text: &str) -> Vec<String> {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    plain.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase).collect()
}

// EP-01
#[test]
fn every_role_file_has_the_same_sections_in_the_same_order() {
    let roles = Roles::shipped();
    for (name, text) in shipped::ROLES {
        let modes = roles.titles().filter_map(|title| title.strip_prefix(&format!("{name}/")));
        let sections: BTreeSet<String> = modes.map(|mode| format!("Mode: {mode}")).collect();
        let found = headings(text);
        assert_eq!(found.iter().take(SECTIONS.len()).copied().collect::<Vec<_>>(), SECTIONS, "{name}");
        let rest: Vec<String> = found.iter().skip(SECTIONS.len()).map(|found| (*found).to_string()).collect();
        assert_eq!(rest.len(), sections.len(), "{name}: one section a mode");
        assert_eq!(rest.into_iter().collect::<BTreeSet<_>>(), sections, "{name}");
        let body = roles.prompt(name).expect("a prompt");
        assert!(body.starts_with(&format!("# {name}\n\n## Purpose\n")), "{name} begins with its name");
        for heading in SECTIONS {
            assert!(section(text, heading).lines().count() >= 3, "{name}: `{heading}` is empty");
        }
    }
}

#[test]
fn a_prompt_is_about_one_screen() {
    let roles = Roles::shipped();
    for (name, text) in shipped::ROLES {
        let max = match *name {
            "check" => 8000,
            "architect" => 5000,
            _ => 3500,
        };
        assert!(text.chars().count() <= max, "{name} has {} characters", text.chars().count());
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{name} has a long line");
    }
    for title in roles.titles() {
        let lines = roles.prompt(title).expect("a prompt").lines().count();
        assert!(lines <= 72, "the prompt of {title} has {lines} lines");
    }
}

// EP-05 EP-33 OT-14 OT-16 DR-15 SR-05 PF-13
#[test]
fn every_verdict_is_explained_where_it_is_given() {
    let roles = Roles::shipped();
    for spec in roles.all() {
        let prompt = roles.prompt(&spec.title).expect("a prompt");
        let explained = match spec.title.split_once('/') {
            Some((_, mode)) => section(&prompt, &format!("Mode: {mode}")),
            None => section(&prompt, "What you return"),
        };
        for verdict in &spec.says {
            assert!(
                explained.contains(&format!("`{verdict}`")),
                "{} does not explain `{verdict}`",
                spec.title
            );
        }
    }
}

// EP-10 OT-08 OT-13 DR-07 DR-15 SR-02 PF-02
#[test]
fn prompts_name_the_keys_that_results_are_read_by() {
    let expected: &[(&str, &[&str])] = &[
        ("planner", &["`green`", "`yellow`", "`red`", "`standard`", "`large`", "`documentation`"]),
        (
            "check/split",
            &["`coverage`", "`no-overlap`", "`single-purpose`", "`contracts`", "`testable-criteria`"],
        ),
        ("check/split", &["`self-containment`", "`criteria`"]),
        ("check/code", &["`plan`", "`test`", "`production`", "`cosmetic`", "manifest"]),
        (
            "make/stubs",
            &["`todo!()`", "`raise NotImplementedError`", "`throw new Error(\"not implemented\")`"],
        ),
        ("findings", &["`DESIGN_FLAW`", "`MISSING_ABSTRACTION`", "`INCORRECT_INVARIANT`"]),
        ("findings", &["`PERFORMANCE_CEILING`", "`INTEGRATION_CONFLICT`", "keep, modify or discard"]),
        (
            "design-reviewer",
            &["`root-cause-addressed`", "`oscillation-free`", "`delta-scope`", "`warm-start-preserved`"],
        ),
        ("design-reviewer", &["`decision-citation`", "criteria"]),
        (
            "architect/revise",
            &["`Approach`", "`Design Revision Notes`", "keep, modify or discard", "warm-start hints"],
        ),
        ("spec-reviewer/inventory", &["critical", "high", "medium", "low", "your checks"]),
        ("tsp-design-reviewer", &["`planning`", "`design`"]),
        ("tsp-code-reviewer", &["`planning`", "`design`", "`code`"]),
        ("tsp-tester", &["`planning`", "`design`", "`code`", "`test`"]),
    ];
    let roles = Roles::shipped();
    for (title, words) in expected {
        let prompt = roles.prompt(title).expect("a prompt");
        for word in *words {
            assert!(prompt.contains(word), "the prompt of {title} lacks {word}");
        }
    }
}

// EP-35 OT-05 CORE-16
#[test]
fn a_prompt_states_the_permissions_that_the_role_has() {
    let mut writing = Vec::new();
    let roles = Roles::shipped();
    for spec in roles.all() {
        let prompt = roles.prompt(&spec.title).expect("a prompt");
        let rules = section(&prompt, "Rules");
        let title = &spec.title;
        let mut places = spec.may_write.iter().filter(|place| **place != Writable::Report);
        if spec.is_read_only() {
            assert!(
                rules.contains("report"),
                "the prompt of {title} does not say that its report is all it writes"
            );
        } else {
            assert!(!rules.contains("Read-only"), "the prompt of {title} says that it is read-only");
            writing.push((spec.title.as_str(), places.next().map_or("", |place| place.name())));
        }
        assert_eq!(places.next(), None, "{title} has one kind of place at most");
        assert_eq!(rules.contains("out a shell") || rules.contains("no shell"), !spec.shell, "{title}");
        assert!(!spec.network, "{title} has the network");
        assert!(
            section(&prompt, "Never").contains("etwork"),
            "the prompt of {title} does not mention the network"
        );
    }
    let expected = [
        ("coder", "tree"),
        ("implementer", "task-files"),
        ("knowledge", "knowledge"),
        ("make", "task-code"),
        ("make/seam", "task-code"),
        ("make/stubs", "task-code"),
        ("test", "tests"),
        ("test-writer", "tests"),
        ("tsp-coder", "tree"),
        ("tsp-tester", "tests"),
    ];
    assert_eq!(writing, expected);
}

// CORE-19
#[test]
fn no_role_is_asked_to_run_git() {
    for (name, text) in shipped::ROLES {
        assert_eq!(git_command(text), None, "{name} is asked to run git");
        assert!(
            words(section(text, "Never")).contains(&"git".to_string()),
            "the prompt of {name} does not mention git"
        );
    }
    assert_eq!(git_command("Run `git add -A` when you are done.").as_deref(), Some("git add"));
    assert_eq!(git_command("Then git commit it.").as_deref(), Some("git commit"));
}

fn git_command(text: &str) -> Option<String> {
    const COMMANDS: &[&str] = &[
        "add", "apply", "branch", "checkout", "cherry", "clone", "commit", "diff", "fetch", "log", "merge",
        "mv", "pull", "push", "rebase", "reset", "restore", "revert", "rm", "show", "stash", "status",
        "switch", "tag", "worktree",
    ];
    let words: Vec<String> =
        text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase).collect();
    words
        .windows(2)
        .find(|pair| pair[0] == "git" && COMMANDS.contains(&pair[1].as_str()))
        .map(|pair| pair.join(" "))
}

#[test]
fn prompts_name_no_product_and_do_not_shout() {
    const PRODUCTS: &[&str] = &[
        "aider",
        "anthropic",
        "chatgpt",
        "claude",
        "codex",
        "copilot",
        "cursor",
        "deepseek",
        "gemini",
        "github",
        "google",
        "gpt",
        "grok",
        "haiku",
        "llama",
        "microsoft",
        "mistral",
        "openai",
        "opencode",
        "opus",
        "qwen",
        "sonnet",
        "vscode",
    ];
    for (name, text) in shipped::ROLES {
        let found: Vec<String> =
            words(text).into_iter().filter(|word| PRODUCTS.contains(&word.as_str())).collect();
        assert_eq!(found, Vec::<String>::new(), "{name}");
        assert_eq!(words(text).iter().find(|word| *word == "expert"), None, "{name} flatters");
        let plain: String = text.split('`').step_by(2).collect();
        assert!(!plain.contains('!'), "{name} shouts");
        let shouted = plain
            .split(|letter: char| !letter.is_alphanumeric())
            .find(|word| word.chars().count() > 3 && word.chars().all(|letter| letter.is_ascii_uppercase()));
        assert_eq!(shouted, None, "{name} shouts");
    }
}

#[test]
fn the_example_of_the_reference_is_accepted() {
    let source = SourceText::new("small.yaml", remand_workflow::reference::EXAMPLE);
    let checked = remand_workflow::check(source, &Roles::shipped());
    assert!(checked.accepted(), "{:#?}", checked.diagnostics);
}
