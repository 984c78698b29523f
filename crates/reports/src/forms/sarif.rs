//! The report as a SARIF 2.1.0 log. Findings are results; what the engine could not judge is a notification of the tool.

use super::words::one_line;
use crate::{ChangeReport, ChangeVerdict, ReportedFate};
use remand_kernel::finding::{Location, Severity};
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// GitHub refuses more results in one run.
const MAX_RESULTS: usize = 5_000;

/// The rules, each with what it finds.
const RULES: [(&str, &str); 18] = [
    ("check-doubtful", "A check passes in a way that looks too easy."),
    ("check-failed", "A check that passed at the base fails."),
    ("gate", "The evidence does not suffice."),
    ("merge-conflict", "The change cannot be merged."),
    ("mutant-survived", "No test notices a small defect in a changed line."),
    ("old-test-fails", "A test of the base does not pass on the new code."),
    ("review", "A reviewer reports a defect."),
    ("secret", "An added line contains a secret."),
    ("settings-changed", "The change touches a file that decides what is tested."),
    ("syntax-error", "A changed file cannot be parsed."),
    ("test-flaky", "A test passes and fails on the same tree."),
    ("test-gone", "A test that ran at the base no longer exists."),
    ("test-new-red", "A new test fails."),
    ("test-regressed", "A test that passed at the base fails."),
    ("test-still-red", "A test that the change had to turn green still fails."),
    ("test-switched-off", "A test that ran at the base is skipped."),
    ("test-weakened", "A test proves less than at the base."),
    ("unproven", "A new or changed test cannot fail."),
];

struct SarifResult<'r> {
    rule: &'r str,
    level: &'static str,
    message: String,
    place: &'r Location,
    identity: &'r str,
}

pub fn log(report: &ChangeReport) -> Value {
    let results: Vec<Value> =
        results(report).iter().take(MAX_RESULTS).map(|result| result_value(result, report)).collect();
    let rules: Vec<Value> =
        RULES.iter().map(|(id, about)| json!({ "id": id, "shortDescription": { "text": about } })).collect();
    let is_blocked = report.verdict == ChangeVerdict::Blocked;
    let mut notifications: Vec<Value> = report
        .unmeasured
        .iter()
        .map(|gap| {
            let text =
                if gap.why.is_empty() { gap.what.clone() } else { format!("{}: {}", gap.what, gap.why) };
            json!({ "level": "note", "message": { "text": one_line(&text) } })
        })
        .collect();
    if matches!(report.verdict, ChangeVerdict::Blocked | ChangeVerdict::Unmeasured) {
        let level = if is_blocked { "error" } else { "warning" };
        notifications.insert(0, json!({ "level": level, "message": { "text": one_line(&report.reason) } }));
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Remand",
                "version": report.engine_version,
                "rules": rules,
            } },
            "automationDetails": { "id": format!("remand/{}/{}", report.workflow, report.run) },
            "invocations": [{
                "executionSuccessful": !is_blocked,
                "startTimeUtc": report.started,
                "endTimeUtc": report.ended,
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": { "verdict": report.verdict, "base": report.change.base, "head": report.change.head },
        }],
    })
}

fn results(report: &ChangeReport) -> Vec<SarifResult<'_>> {
    let is_pass = report.verdict == ChangeVerdict::Pass;
    let mut results: Vec<SarifResult<'_>> = report
        .secrets
        .iter()
        .map(|secret| SarifResult {
            rule: "secret",
            level: "error",
            message: format!("the line contains a secret: {}", secret.shape),
            place: &secret.place,
            identity: &secret.identity,
        })
        .collect();
    results.extend(report.findings.iter().map(|finding| SarifResult {
        rule: &finding.rule,
        level: if finding.severity == Severity::Minor || is_pass { "warning" } else { "error" },
        message: finding.claim.clone(),
        place: &finding.place,
        identity: &finding.identity,
    }));
    let mutants = report.proofs.iter().flat_map(|proofs| &proofs.mutants);
    let survivors = mutants.filter(|mutant| mutant.fate == ReportedFate::Survived);
    results.extend(survivors.map(|mutant| SarifResult {
        rule: "mutant-survived",
        level: "note",
        message: format!("{}, and no test notices", mutant.change),
        place: &mutant.place,
        identity: &mutant.identity,
    }));
    results
}

fn result_value(result: &SarifResult<'_>, report: &ChangeReport) -> Value {
    // GitHub refuses results without a file, so a defect of the whole change is shown at its first file.
    let file = match result.place.file.as_str() {
        "" => report.change.paths.first().map_or(".", String::as_str),
        file => file,
    };
    let mut location = json!({ "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" } });
    if result.place.line > 0 {
        location["region"] = json!({ "startLine": result.place.line });
    }
    let mut value = json!({
        "ruleId": result.rule,
        "level": result.level,
        "message": { "text": one_line(&result.message) },
        "locations": [{ "physicalLocation": location }],
        "partialFingerprints": { "remandFinding/v1": result.identity },
    });
    if let Some(index) = RULES.iter().position(|(id, _)| *id == result.rule) {
        value["ruleIndex"] = json!(index);
    }
    value
}

/// A path as a relative URI.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/+@".contains(&byte);
    path.bytes().fold(String::new(), |mut uri, byte| {
        if is_plain(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
        uri
    })
}
