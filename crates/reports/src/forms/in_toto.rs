//! The report as an in-toto statement with the predicate test-result, and the envelope that carries its signature.

use crate::{ChangeReport, ChangeVerdict, TestChange};
use serde_json::{Value, json};

/// The media type of the signed payload.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// The statement about the judged commit. Only a pass is `PASSED`; what nothing proved or nobody could judge is `WARNED`.
pub fn statement(report: &ChangeReport) -> Value {
    let names = |wanted: fn(TestChange) -> bool| -> Vec<String> {
        let all = report.checks.iter().flat_map(|check| check.tests.iter().map(move |test| (check, test)));
        let chosen = all.filter(|(_, test)| wanted(test.change));
        chosen.map(|(check, test)| format!("{}: {}", check.name, test.name)).collect()
    };
    let result = match report.verdict {
        ChangeVerdict::Pass => "PASSED",
        ChangeVerdict::Fail => "FAILED",
        ChangeVerdict::Unmeasured | ChangeVerdict::Blocked => "WARNED",
    };
    json!({
        "_type": STATEMENT,
        "subject": [{ "name": report.change.source.describe(), "digest": { "gitCommit": report.change.head } }],
        "predicateType": PREDICATE,
        "predicate": {
            "result": result,
            "configuration": [{
                "name": "base",
                "digest": { "gitCommit": report.change.base },
                "annotations": {
                    "verdict": report.verdict,
                    "reason": report.reason,
                    "run": report.run,
                    "engine": format!("remand {}", report.engine_version),
                },
            }],
            "passedTests": names(|change| {
                matches!(change, TestChange::Passed | TestChange::New | TestChange::Fixed)
            }),
            "warnedTests": names(|change| {
                matches!(change, TestChange::StillRed | TestChange::Flaky | TestChange::SwitchedOff | TestChange::Gone)
            }),
            "failedTests": names(|change| matches!(change, TestChange::Regressed | TestChange::NewRed | TestChange::NewFlaky)),
        },
    })
}

/// The bytes that are signed: the pre-authentication encoding of DSSE.
pub fn pre_authentication(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// The DSSE envelope; payload and signature are in base64.
pub fn envelope(payload: &str, key: &str, signature: &str) -> Value {
    json!({
        "payloadType": PAYLOAD_TYPE,
        "payload": payload,
        "signatures": [{ "keyid": key, "sig": signature }],
    })
}
