//! `entry-check`: before the code is written the new tests fail as they were handed over, and nothing else fails that
//! passed at the base (OT-15).

use super::super::Done;
use super::of_tests;
use super::red::judge;
use super::seen::{Seen, look};
use crate::checks::FailureKind;
use crate::dispatch::{content, document};
use crate::workshop::{Job, Trouble};
use remand_kernel::finding::Finding;
use serde_json::Value;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let seen = look(job)?;
    let mut findings = judge(&seen).1;
    findings.extend(otherwise(&seen, &handed_over(job)?));
    findings.extend(seen.worse.iter().map(|test| {
        of_tests(test, format!("`{test}` passed at the base and does not any more"), String::new())
    }));
    let mut done = Done::saying(if findings.is_empty() { "ready" } else { "unfit" });
    seen.ran.tell_rows(&mut done);
    done.report.findings = findings;
    Ok(done)
}

/// Tests that fail in another way than whoever wrote them says.
fn otherwise(seen: &Seen, handed: &[(String, FailureKind)]) -> Vec<Finding> {
    let said =
        |test: &str| handed.iter().find(|(name, _)| test.ends_with(name.as_str())).map(|(_, kind)| *kind);
    let differs = seen.new.iter().filter_map(|test| {
        let (said, is) = (said(&test.name)?, test.kind?);
        (said != is).then(|| {
            let claim = format!(
                "`{}` was handed over as failing by {}, and fails by {}",
                test.name,
                said.name(),
                is.name()
            );
            of_tests(&test.name, claim, String::new())
        })
    });
    differs.collect()
}

/// The kinds of failure that the last result of a role which writes tests names, test by test.
fn handed_over(job: &Job) -> Result<Vec<(String, FailureKind)>, Trouble> {
    let reader = job.site.reader()?;
    let dispatches = reader.dispatches(&job.site.run)?;
    let is_of_tests = |role: &str| {
        let tests = job.program.artifact_named("tests");
        job.program.contracts.iter().any(|contract| {
            contract.title() == role && tests.is_some_and(|tests| contract.changes.contains(&tests))
        })
    };
    let last = dispatches.iter().rev().find(|row| is_of_tests(&row.role) && row.says.is_some());
    let Some(result) = last.and_then(|row| row.result) else {
        return Ok(Vec::new());
    };
    let Some(value) = document(&content(&reader, result)?) else {
        return Ok(Vec::new());
    };
    let changes = value.pointer("/payload/changes").and_then(Value::as_array).cloned().unwrap_or_default();
    let tests = changes.iter().filter_map(|change| change.get("tests")?.as_array()).flatten();
    let read = tests.filter_map(|test| {
        let text = |key: &str| test.get(key).and_then(Value::as_str);
        Some((text("name")?.to_string(), FailureKind::named(text("kind")?)?))
    });
    Ok(read.collect())
}
