//! Tests of the forms: what people read word for word, and what hostile names must not break.

use super::*;
use crate::{
    ChangeSource, ChangeVerdict, CheckOrigin, CheckSummary, CheckVerdict, FindingSummary, FirstLook,
    JudgedChange, SecretSummary, TestChange, TestSummary,
};
use remand_kernel::evidence::Tier;
use remand_kernel::finding::{Location, Severity};

fn place(file: &str, line: u32) -> Location {
    Location { file: file.into(), symbol: String::new(), line }
}

/// A failing change whose names are chosen to break out of every form.
fn report() -> ChangeReport {
    let test =
        |name: &str, change| TestSummary { name: name.into(), change, place: None, message: String::new() };
    let claim = "the test `a|b` <b>fails</b>\n::error::planted, 100%";
    ChangeReport {
        format: ChangeReport::FORMAT,
        run: "20261119-010203-abcd".into(),
        workflow: "vet".into(),
        engine_version: "0.1.0".into(),
        started: "2026-11-19T01:02:03Z".into(),
        ended: "2026-11-19T01:02:05Z".into(),
        duration_ms: 2_340,
        change: JudgedChange {
            source: ChangeSource::Range { text: "main..feature".into() },
            base: "1".repeat(40),
            head: "2".repeat(40),
            paths: vec!["src/a b,c.py".into()],
            parts: Vec::new(),
        },
        verdict: ChangeVerdict::Fail,
        reason: "1 test is red that passed before".into(),
        look: Some(FirstLook {
            place: Some(place("src/a b,c.py", 3)),
            sentence: claim.into(),
            command: Some("pytest -q".into()),
        }),
        checks: vec![CheckSummary {
            name: "pytest".into(),
            tier: Some(Tier::Two),
            command: Some("pytest -q".into()),
            folder: String::new(),
            exit_code: Some(1),
            duration_ms: 1_500,
            verdict: CheckVerdict::Failed,
            verdict_at_base: Some(CheckVerdict::Passed),
            origin: CheckOrigin::Now,
            reason: String::new(),
            snippet: "assert 1 == 2".into(),
            tests: vec![
                test("a|b", TestChange::Regressed),
                test("<x>&\u{1}", TestChange::Passed),
                test("old", TestChange::StillRed),
            ],
        }],
        findings: vec![FindingSummary {
            identity: "f1".into(),
            rule: "test-regressed".into(),
            severity: Severity::Critical,
            place: place("src/a b,c.py", 3),
            claim: claim.into(),
            evidence: String::new(),
            remedy: String::new(),
        }],
        releases: Vec::new(),
        old_tests: Vec::new(),
        proofs: None,
        secrets: vec![SecretSummary {
            identity: "s1".into(),
            shape: "GitHub token".into(),
            place: place("k.env", 1),
        }],
        warnings: Vec::new(),
        unmeasured: Vec::new(),
    }
}

// BY-02
#[test]
fn a_terminal_gets_the_verdict_the_first_look_and_the_command() {
    insta::assert_snapshot!(ReportForm::Text.render(&report()), @r"
    FAIL  main..feature: 1 test is red that passed before
    look at    src/a b,c.py:3: the test `a|b` <b>fails</b> ::error::planted, 100%
    reproduce  pytest -q
    change     1 file from 111111111111 to 222222222222, judged in 2.3 s
    checks
      failed        pytest  1 regressed, 1 still red, 1 passed, 1.5 s
    tests
      regressed     a|b (pytest)
      still red     old (pytest)
    findings
      critical  src/a b,c.py:3: the test `a|b` <b>fails</b> ::error::planted, 100%
    secrets
      k.env:1: GitHub token
    evidence   remand evidence 20261119-010203-abcd
    ");
}

// BY-02
#[test]
fn an_annotation_stays_one_command_whatever_the_claim_says() {
    insta::assert_snapshot!(ReportForm::Github.render(&report()), @r"
    ::error file=k.env,line=1,title=secret::the line contains a secret: GitHub token
    ::error file=src/a b%2Cc.py,line=3,title=test-regressed::the test `a|b` <b>fails</b> ::error::planted, 100%25
    ::error title=Remand::FAIL  main..feature: 1 test is red that passed before
    ");
}

// BY-02
#[test]
fn a_page_shows_names_and_lets_them_break_nothing() {
    let page = ReportForm::Markdown.render(&report());
    assert!(
        page.starts_with("## Remand: fail — main..feature\n\n1 test is red that passed before.\n"),
        "{page}"
    );
    assert!(page.contains("| `a\\|b` | regressed | `pytest` |\n"), "{page}");
    assert!(!page.contains("<b>"), "{page}");
}

// BY-02
#[test]
fn junit_is_well_formed_and_only_what_became_worse_fails() {
    let text = ReportForm::Junit.render(&report());
    let xml = roxmltree::Document::parse(&text).expect("XML");
    let of_check = |name: &str| {
        let mut cases = xml.descendants().filter(|node| node.attribute("classname") == Some("pytest"));
        let case = cases.find(|node| node.attribute("name").is_some_and(|case| case.contains(name)));
        let mut children = case.expect(name).children().filter(roxmltree::Node::is_element);
        children.next().map(|child| child.tag_name().name().to_string())
    };
    assert_eq!(of_check("a|b").as_deref(), Some("failure"));
    assert_eq!(of_check("old").as_deref(), Some("skipped"));
    assert_eq!(of_check("<x>&"), None);
}

// BY-02
#[test]
fn a_passing_change_is_green_in_every_form() {
    let mut passing = ChangeReport { verdict: ChangeVerdict::Pass, look: None, ..report() };
    passing.secrets.clear();
    assert!(!ReportForm::Junit.render(&passing).contains("<failure"));
    assert!(!ReportForm::Github.render(&passing).contains("::error "));
    assert!(!ReportForm::Sarif.render(&passing).contains(r#""level": "error""#));
    assert!(ReportForm::Text.render(&passing).starts_with("PASS  main..feature: "));
    assert_eq!(statement(&passing)["predicate"]["result"], "PASSED");
    let unmeasured = ChangeReport { verdict: ChangeVerdict::Unmeasured, ..passing };
    assert_eq!(statement(&unmeasured)["predicate"]["result"], "WARNED");
    assert!(ReportForm::Junit.render(&unmeasured).contains("type=\"unmeasured\""));
}

// BY-02
#[test]
fn sarif_tells_findings_from_what_the_engine_could_not_judge() {
    let log: serde_json::Value = serde_json::from_str(&ReportForm::Sarif.render(&report())).expect("JSON");
    let run = &log["runs"][0];
    let uri = &run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "src/a%20b%2Cc.py");
    assert_eq!(run["results"][1]["partialFingerprints"]["remandFinding/v1"], "f1");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rule = run["results"][1]["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok());
    assert_eq!(run["tool"]["driver"]["rules"][rule.expect("an index")]["id"], "test-regressed");

    let blocked = ChangeReport {
        verdict: ChangeVerdict::Blocked,
        reason: "cargo is missing".into(),
        findings: Vec::new(),
        secrets: Vec::new(),
        ..report()
    };
    let log: serde_json::Value = serde_json::from_str(&ReportForm::Sarif.render(&blocked)).expect("JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
}

// BY-02
#[test]
fn the_signed_bytes_follow_dsse() {
    let expected = b"DSSEv1 28 application/vnd.in-toto+json 2 {}";
    assert_eq!(pre_authentication(b"{}"), expected);
}
