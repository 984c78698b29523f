#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::markdown::{block, cell, close_fences, code, inline};
use super::*;
use serde_json::{Value, json};

// EP-34, HO-02
#[test]
fn the_rendering_of_every_schema_shows_everything_that_the_example_says() {
    for entry in schemas() {
        let result = parse(entry.example).unwrap();
        assert_shown(entry, &result, &rendered(entry.id, &result));
        let document = parse(entry.example).unwrap();
        let mut report = document.clone();
        // The caller knows the role and the phase; a document is an artifact.
        report.as_object_mut().unwrap().retain(|key, _| key == "payload" || key == "completion");
        report["payload"].as_object_mut().unwrap().retain(|key, _| key != "markdown");
        assert_shown(entry, &report, &rendered_report(entry.id, &document, 3));
    }
}

// EP-34, HO-02
#[test]
fn the_rendering_shows_every_field_that_a_schema_has() {
    for entry in schemas() {
        let mut number = 0;
        let mut result = filled(&entry.json, &entry.json, &mut number);
        result["completion"]["status"] = json!("DONE");
        let text = rendered(entry.id, &result);
        assert_shown(entry, &result, &text);
        assert!(!text.contains("null") && !text.contains(": \n"), "{}\n{text}", entry.name);
    }
}

/// A value with every field that a schema has, each text different from all others.
fn filled(schema: &Value, root: &Value, number: &mut u32) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let part = root.pointer(name.trim_start_matches('#')).unwrap();
        return filled(part, root, number);
    }
    let options = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema[key].as_array());
    if let Some(option) = options.and_then(|options| options.first()).filter(|_| schema.get("type").is_none())
    {
        return filled(option, root, number);
    }
    if let Some(word) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return word.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default();
    *number += 1;
    match kind {
        "object" => {
            let none = serde_json::Map::new();
            let fields = schema["properties"].as_object().unwrap_or(&none);
            fields.iter().map(|(key, it)| (key.clone(), filled(it, root, number))).collect()
        }
        "array" => (0..2).map(|_| filled(&schema["items"], root, number)).collect(),
        "boolean" => json!(true),
        "integer" | "number" => json!(*number),
        "string" => json!(format!(
            "text {number} of {} in snake_case & <more>",
            "words ".repeat(*number as usize % 30)
        )),
        other => panic!("{other}: {schema}"),
    }
}

/// Every text below the payload, the completion and the header is in the rendering.
fn assert_shown(entry: &Schema, result: &Value, text: &str) {
    let plain = |text: &str| text.replace(['\\', '`'], "").replace("&lt;", "<").replace("&amp;", "&");
    let shown = plain(text);
    let mut values = Vec::new();
    strings(result, &mut values);
    for value in values {
        for line in value.lines().filter(|line| !line.trim().is_empty()) {
            assert!(shown.contains(&plain(line.trim())), "{}: {line}\n{text}", entry.name);
        }
    }
}

fn strings(value: &Value, out: &mut Vec<String>) {
    // The engine fills in the version and the time of the start; a status is shown unless it is `DONE`; the number of
    // the findings and their highest severity follow from them.
    const SKIPPED: &[&str] = &["schema_version", "started_at", "status", "severity"];
    match value {
        Value::Object(entries) => {
            let shown = entries.iter().filter(|(key, _)| !SKIPPED.contains(&key.as_str()));
            shown.for_each(|(_, it)| strings(it, out));
        }
        Value::Array(items) => items.iter().for_each(|it| strings(it, out)),
        Value::String(text) => out.push(text.clone()),
        _ => {}
    }
}

// EP-34
#[test]
fn a_plan_is_rendered_with_its_waves_and_decisions_with_their_reasons() {
    let plan = parse(SchemaId::PlanOutput.schema().example).unwrap();
    let text = rendered(SchemaId::PlanOutput, &plan);
    assert!(text.contains("| wave | tasks |\n| --- | --- |\n| 1 | task-01 |\n| 2 | task-02 |\n"), "{text}");
    let design = parse(SchemaId::DesignOutput.schema().example).unwrap();
    insta::assert_snapshot!(rendered(SchemaId::DesignOutput, &design), @r##"
    # Sessions expire

    **Verdict:** done · **By:** designer · **Phase:** design

    Expiry is checked when a session is read.

    When a session is read, the store refuses it if it is too old.

    ## Approach

    Check the age on read, and remove old sessions lazily. (decisions: D-1)

    ## Decisions

    ### D-1: Check the age on read

    confidence: high · risk: yellow · selected: alt-1 · decided by: designer

    - **Context:** Old sessions must be refused immediately.
    - **Alternatives:**
      - **alt-1**: Check on read
        - **Description:** Compare the last use with the clock whenever a session is read.
        - **Pros:** No background work
        - **Cons:** Old sessions stay stored for a while
      - **alt-2**: Sweep in the background
        - **Description:** A timer removes old sessions.
        - **Pros:** Storage stays small
        - **Cons:** An old session is accepted until the next sweep
    - **Rationale:** Only a check on read refuses an old session immediately.

    ## Components

    - **SessionStore**: Keeps sessions and refuses old ones.
      - **Interfaces:** `fn get(&self, id: &SessionId) -> Option<Session>`
      - **Files:** `src/session.rs`

    ## Testing

    Unit tests with a fixed clock.

    ## Risks

    - Clocks of several servers may differ. (risk: green)
      - **Mitigation:** A minute of tolerance.
    "##);
    let review = parse(SchemaId::ReviewFindings.schema().example).unwrap();
    insta::assert_snapshot!(rendered_report(SchemaId::ReviewFindings, &review, 4), @r##"
    **Verdict:** needs-revision · **Scope:** code · **Focus:** security · **Confidence:** high

    One defect: the clock may be set back.

    The check is in the right place, but relies on a clock that can be set back.

    #### Findings

    ##### F-1: The age is compared with the wall clock, which an administrator may set back.

    major · security · kind: production · `src/session.rs:42` `SessionStore::get`

    - **Evidence:** src/session.rs:42 calls SystemTime::now()
    - **Impact:** A session may live longer than an hour.
    - **Recommendation:** Use a monotonic clock.

    #### Checked

    - who reads sessions
    - what the clock is
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
    let text = rendered(SchemaId::ReviewFindings, &document);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert!(headings.iter().all(|line| !line.contains("Heading") && !line.contains("approve")), "{text}");
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
    assert_eq!(inline("an odd ` and <b> & [l](u)"), "an odd \\` and &lt;b> & \\[l\\](u)");
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
    let text = rendered(SchemaId::Document, &document);
    assert!(text.starts_with("# Mine\n\n~~~\nopen\n~~~\n\n---\n\n**Verdict:** done"), "{text}");
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
