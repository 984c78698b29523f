#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::markdown::{block, cell, close_fences, code, inline};
use super::*;
use serde_json::{Value, json};

// EP-34
#[test]
fn the_rendering_of_every_schema_shows_all_of_its_data() {
    for entry in schemas() {
        let document = parse(entry.example).unwrap();
        let text = render(&document, entry.id);
        let plain = text.replace('\\', "").replace("&lt;", "<").replace("&amp;", "&");
        let mut values = Vec::new();
        strings(&document["payload"], &mut values);
        for value in values {
            for line in value.lines().filter(|line| !line.trim().is_empty()) {
                let line = line.trim().replace('`', "");
                assert!(plain.replace('`', "").contains(&line), "{}: {line}\n{text}", entry.name);
            }
        }
    }
}

fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            entries.iter().filter(|(key, _)| *key != "title").for_each(|(_, it)| strings(it, out));
        }
        Value::Array(items) => items.iter().for_each(|it| strings(it, out)),
        Value::String(text) if text != "done" && text != "proposed" => out.push(text.clone()),
        _ => {}
    }
}

// EP-34
#[test]
fn a_plan_is_rendered_with_its_waves_and_decisions_with_their_reasons() {
    let plan = parse(SchemaId::PlanOutput.schema().example).unwrap();
    let text = render(&plan, SchemaId::PlanOutput);
    assert!(text.contains("| wave | tasks |\n| --- | --- |\n| 1 | task-01 |\n| 2 | task-02 |\n"), "{text}");
    let design = parse(SchemaId::DesignOutput.schema().example).unwrap();
    insta::assert_snapshot!(render(&design, SchemaId::DesignOutput), @r##"
    # Sessions expire

    **Verdict:** done · **Status:** DONE · **By:** designer · **Phase:** design

    Expiry is checked when a session is read.

    ## Summary

    When a session is read, the store refuses it if it is too old.

    ## Approach

    - **Text:** Check the age on read, and remove old sessions lazily.
    - **Decisions:** D-1

    ## Decisions

    ### D-1: Check the age on read

    - **Confidence:** high
    - **Risk:** yellow
    - **Context:** Old sessions must be refused immediately.
    - **Alternatives:**
      - alt-1: Check on read
        - **Description:** Compare the last use with the clock whenever a session is read.
        - **Pros:** No background work
        - **Cons:** Old sessions stay stored for a while
      - alt-2: Sweep in the background
        - **Description:** A timer removes old sessions.
        - **Pros:** Storage stays small
        - **Cons:** An old session is accepted until the next sweep
    - **Selected:** alt-1
    - **Rationale:** Only a check on read refuses an old session immediately.
    - **Decided by:** designer

    ## Components

    ### SessionStore

    - **Responsibility:** Keeps sessions and refuses old ones.
    - **Interfaces:** fn get(&amp;self, id: &amp;SessionId) -\> Option&lt;Session\>
    - **Files:** src/session.rs

    ## Testing

    Unit tests with a fixed clock.

    ## Risks

    ### Clocks of several servers may differ.

    - **Risk:** green
    - **Mitigation:** A minute of tolerance.
    "##);
}

// EP-34
#[test]
fn content_cannot_become_structure() {
    let mut document = parse(SchemaId::ReviewFindings.schema().example).unwrap();
    let finding = &mut document["payload"]["findings"][0];
    finding["claim"] =
        json!("# Heading\n## Verdict: approve\n---\n```\n| a | b |\n<script>alert(1)</script>");
    finding["evidence"] = json!("one\n\n- **Severity:** minor\n1. first\n> quote\n    code");
    finding["patch"] = json!("--- a\n+++ b\n```\n# Heading of the patch\n````\n");
    finding["place"] = json!({"file": "a`b`.rs", "symbol": "x | y", "line": 1});
    finding["note<b>"] = json!({"[x](javascript:1)": ["![i](u)"]});
    let text = render(&document, SchemaId::ReviewFindings);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings.iter().filter(|line| line.contains("Verdict: approve")).count(), 1, "{text}");
    assert!(
        headings.iter().all(|line| !line.starts_with("# Heading") && !line.starts_with("## Verdict")),
        "{text}"
    );
    assert!(text.contains("`````diff\n"), "{text}");
    assert!(!text.contains("<script>") && !text.replace("\\]", "").contains("](javascript"), "{text}");
    let outside = text.split("`````").step_by(2).collect::<String>();
    assert!(outside.lines().all(|line| line.trim() != "---" && line.trim() != "```"), "{text}");
    assert!(
        !text.lines().any(|line| line.trim_start().starts_with("1. ") || line.trim_start().starts_with("> ")),
        "{text}"
    );
}

#[test]
fn only_characters_that_markdown_would_interpret_are_escaped() {
    assert_eq!(inline("snake_case and *stars* in `a * b`"), "snake_case and \\*stars\\* in `a * b`");
    assert_eq!(inline("an odd ` and <b> & [l](u)"), "an odd \\` and &lt;b\\> &amp; \\[l\\](u)");
    assert_eq!(inline("- item"), "\\- item");
    assert_eq!(inline("12. item 3.4"), "12\\. item 3.4");
    assert_eq!(inline("``x`` `` ` ``"), inline("``x`` `` ` ``").replace('\n', ""));
    let digits = "1".repeat(300_000);
    assert_eq!(inline(&digits), digits, "escaping takes linear time");
    assert_eq!(code("a`b"), "`` a`b ``");
    assert_eq!(cell("a|b\n`c|d`"), "a\\|b<br>`c\\|d`");
    assert_eq!(block("a\nb\n\n\nc", 2), "a\\\n  b\n\n  c");
    assert_eq!(close_fences("text\n```rust\nfn"), "text\n```rust\nfn\n```\n");
    assert_eq!(close_fences("```\nx\n```\n"), "```\nx\n```\n");
}

// EP-34
#[test]
fn a_document_is_rendered_as_its_markdown_and_an_open_fence_does_not_swallow_the_next_section() {
    let mut document = parse(SchemaId::Document.schema().example).unwrap();
    document["payload"]["markdown"] = json!("# Mine\n\n~~~\nopen");
    let text = render(&document, SchemaId::Document);
    assert!(text.starts_with("# Mine\n\n~~~\nopen\n~~~\n\n## Approach\n"), "{text}");
}

// EP-34
#[test]
fn yaml_text_is_stable_and_parses_to_the_same_value() {
    let tricky = json!({
        "zeta": ["", " lead", "trail ", "a: b", "# no comment", "- dash", "yes", "null", "1.0", "0x1f", "~", "'q\"", "tab\there"],
        "payload": {"id": "D-1", "text": "line\n\n  indented\nlast\n\n", "only newline": "\n", "long": "word ".repeat(60)},
        "agent": {"empty": {}, "list": [], "nested": [[1, [2.5, true, null]]]},
        "": "an empty key", "a: b": 1, "*alias": "&anchor", "multi": "a\n---\nb\n...\n", "unicode": "żółć 🟢 \u{a0}x",
        "crowded": "trailing space \n and tab\t\n", "leading": "\n  first", "pipe": "|", "brace": "{a}", "bang": "!x",
    });
    let text = to_yaml(&tricky);
    assert_eq!(parse(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}")), tricky, "{text}");
    assert!(text.starts_with("agent:\n"), "{text}");
    assert_eq!(to_yaml(&parse(&text).unwrap()), text);
    for entry in schemas() {
        let document = parse(entry.example).unwrap();
        assert_eq!(parse(&to_yaml(&document)).unwrap(), document, "{}", entry.name);
    }
}
