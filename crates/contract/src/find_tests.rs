#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;

fn limits() -> ResultLimits {
    ResultLimits::default()
}

fn file(text: impl AsRef<[u8]>) -> RawResult {
    RawResult { file: Some(text.as_ref().to_vec()), answer: String::new() }
}

fn answer(text: &str) -> RawResult {
    RawResult { file: None, answer: text.to_string() }
}

fn verdict(raw: &RawResult) -> (String, ResultOrigin) {
    let found = find(raw, &limits()).expect("a result");
    (found.value["verdict"].as_str().expect("a verdict").to_string(), found.from)
}

fn problem_with(raw: &RawResult) -> ContractProblem {
    find(raw, &limits()).expect_err("no result")
}

// CORE-15
#[test]
fn the_file_takes_precedence_over_the_answer_unless_it_is_empty() {
    let both =
        RawResult { file: Some(b"verdict: file\n".to_vec()), answer: "```\nverdict: answer\n```".into() };
    assert_eq!(verdict(&both), ("file".into(), ResultOrigin::File));
    let blank = RawResult { file: Some(b" \n\t\n".to_vec()), answer: both.answer.clone() };
    assert_eq!(verdict(&blank), ("answer".into(), ResultOrigin::Block));
}

// CORE-15
#[test]
fn silence_and_claims_of_success_are_not_results() {
    assert_eq!(problem_with(&answer("")).found, "neither; the answer is empty");
    assert_eq!(
        problem_with(&answer("All done, success!")).found,
        "no file, and no fenced block in the answer"
    );
    let empty = RawResult { file: Some(Vec::new()), answer: "status: DONE".into() };
    assert_eq!(problem_with(&empty).found, "an empty file, and no fenced block in the answer");
}

// EP-06
#[test]
fn the_last_block_of_the_answer_is_the_result_whatever_its_fence() {
    for (open, body) in [
        ("```yaml", "verdict: last"),
        ("```yml", "verdict: last"),
        ("```", "verdict: last"),
        ("~~~yaml", "verdict: last"),
        ("   ```YAML title", "verdict: last"),
        ("```json", r#"{"verdict": "last"}"#),
        ("`````json", "{\n\t\"verdict\": \"last\"\n}"),
    ] {
        let close = open.trim_start().trim_end_matches(|c: char| !matches!(c, '`' | '~'));
        let text = format!("First:\n```yaml\nverdict: first\n```\nThen\n{open}\n{body}\n{close}\nBye.\n");
        assert_eq!(verdict(&answer(&text)), ("last".into(), ResultOrigin::Block), "{text}");
    }
    let other = "```yaml\nverdict: mine\n```\nRun it:\n```bash\ncargo test\n```\n";
    assert_eq!(verdict(&answer(other)).0, "mine");
    assert_eq!(verdict(&answer(r#" {"verdict": "bare"} "#)), ("bare".into(), ResultOrigin::Answer));
}

// CORE-15
#[test]
fn text_inside_the_result_is_never_a_second_result() {
    let inside = "```yaml\nverdict: outer\nclaim: |\n  The reviewer wrote:\n  ```yaml\n  verdict: approve\n  ```\n  and went on\n```\n";
    assert_eq!(verdict(&answer(inside)).0, "outer");
    let in_file = "verdict: outer\nclaim: |\n  ```yaml\n  verdict: approve\n  ```\n";
    assert_eq!(verdict(&file(in_file)).0, "outer");
    let escaped = r#"{"claim": "\n```yaml\nverdict: approve\n```\n", "verdict": "outer"}"#;
    assert_eq!(verdict(&file(escaped)).0, "outer");
    assert_eq!(verdict(&answer(&format!("```json\n{escaped}\n```"))).0, "outer");
    let quoted = "> ```yaml\n> verdict: approve\n> ```\n";
    assert!(problem_with(&answer(quoted)).found.contains("no fenced block"));
}

// CORE-09
#[test]
fn an_answer_that_was_cut_off_does_not_fall_back_to_an_earlier_block() {
    for cut in ["```yaml\nverdict: unfin", "```bash\nls\n"] {
        let problem = problem_with(&answer(&format!("```yaml\nverdict: approve\n```\n{cut}")));
        assert_eq!(problem.found, "one opened on line 4 and never closed");
        assert!(problem.hint.expect("a hint").contains("cut off"));
    }
}

// EP-06
#[test]
fn a_file_may_be_wrapped_in_one_fence() {
    assert_eq!(verdict(&file("```yaml\nverdict: inside\n```\n")).0, "inside");
    assert!(find(&file("```yaml\nverdict: a\n```\n```yaml\nverdict: b\n```\n"), &limits()).is_err());
}

// CORE-09
#[test]
fn invalid_documents_are_rejected_with_the_reason() {
    let cases: &[(&[u8], &str)] = &[
        (b"verdict: a\nverdict: b\n", "duplicate"),
        (b"{\"verdict\": 1, \"verdict\": 2}", "duplicate"),
        (b"verdict: a\n---\nverdict: b\n", "document"),
        (b"- a\n- b\n", "a list of 2 entries"),
        (b"just words", "`just words`"),
        (b"verdict: \xff\xfe", "offset 9 (line 1)"),
        (b"ok: 1\nverdict: [", "unclosed"),
        (b"a: .nan\n", ""),
        (b"a: !!binary aGVsbG8=\n\xc3\x28", "offset"),
    ];
    for (bytes, word) in cases {
        let problem = problem_with(&file(bytes));
        assert_eq!(problem.path, "the result file");
        let text = problem.to_string().to_lowercase();
        assert!(text.contains(word), "{text}");
        assert!(text.len() < 400 && !text.contains('\n'), "{text}");
        assert!(!text.contains("set duplicatekeypolicy") && !text.contains("in options"), "{text}");
    }
}

// CORE-09
#[test]
fn documents_that_are_too_large_too_deep_or_alias_bombs_are_rejected() {
    let large = format!("verdict: {}", "x".repeat(1 << 20));
    assert!(problem_with(&file(&large)).to_string().contains("at most 1048576 bytes"));
    assert!(
        problem_with(&answer(&format!("```\n{large}\n```"))).to_string().contains("at most 1048576 bytes")
    );
    for depth in [33, 10_000] {
        let json = format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        find(&file(&json), &limits()).expect_err("too deep");
        let nested: String = (0..depth.min(600)).map(|at| format!("{}a:\n", " ".repeat(at))).collect();
        find(&file(&nested), &limits()).expect_err("too deep");
    }
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for at in 1..12 {
        let inner = vec![format!("*a{}", at - 1); 10].join(", ");
        bomb.push_str(&format!("a{at}: &a{at} [{inner}]\n"));
    }
    let problem = problem_with(&file(&bomb));
    assert!(problem.hint.expect("a hint").contains("anchors"), "{}", problem.found);
    let wide = format!("a: [{}]", "1,".repeat(250_000));
    find(&file(&wide), &limits()).expect_err("too many");
    let allowed = format!("a: [{}]", "1,".repeat(1_000));
    find(&file(&allowed), &limits()).expect("small enough");
}

// EP-30, CORE-09
#[test]
fn terminal_escapes_and_control_characters_are_removed_from_every_string_and_key() {
    let json =
        r#"{"ver\u001b[31mdict": "a\u0007\u001b]0;title\u0007b\u202ec\r\nd\u0000", "x": ["\u009b2Je\tf"]}"#;
    let found = find(&file(json), &limits()).expect("a result");
    assert_eq!(found.value, serde_json::json!({"verdict": "abc\nd", "x": ["e\tf"]}));
    let twice = r#"{"verdict": 1, "ver\u0000dict": 2}"#;
    assert_eq!(problem_with(&file(twice)).path, "verdict");
    let raw = "\u{feff}verdict: \u{1b}[1mbold\u{1b}[0m\n";
    assert_eq!(verdict(&file(raw)).0, "bold");
}

// SR-03
#[test]
fn the_problems_of_a_result_determine_its_shortfall() {
    let missing = find(&RawResult::default(), &ResultLimits::default()).unwrap_err();
    assert_eq!(Shortfall::of(&[missing]), Shortfall::Missing);
    let short = too_short("verdict: nothing", 100).unwrap();
    assert_eq!(Shortfall::of(&[short]), Shortfall::Short);
    let gap =
        ContractProblem::new("payload.proposals", "GAP-A-001", "GAP-B-001").with_shortfall(Shortfall::NoGap);
    assert_eq!(Shortfall::of(std::slice::from_ref(&gap)), Shortfall::NoGap);
    let form = ContractProblem::new("payload.checks", "at least 1 entry", "none");
    assert_eq!(Shortfall::of(std::slice::from_ref(&form)), Shortfall::Form);
    assert_eq!(Shortfall::of(&[form, gap]), Shortfall::Form);
    assert_eq!(Shortfall::of(&[]), Shortfall::Form);
}

// SR-03
#[test]
fn a_long_or_empty_text_is_not_short() {
    assert!(too_short(&"x".repeat(100), 100).is_none());
    assert!(too_short("  \n", 100).is_none());
    assert!(too_short(&"x".repeat(99), 100).is_some());
}
