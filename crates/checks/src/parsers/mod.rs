//! Reads individual test results from the output of test runners.
//!
//! A parser never decides whether a check passed: the exit code does. Skipped and ignored tests are listed as such if
//! the runner names them, and do not count as tests that ran.

pub(super) mod go;
mod jest;
mod junit;
pub(super) mod libtest;
pub(super) mod nextest;
pub(super) mod node;
pub(super) mod pytest;
mod tap;
mod unittest;

#[cfg(test)]
mod parsers_tests;

use super::spec::Parser;
use remand_kernel::change::{TestEnd, TestResult};
use std::collections::BTreeMap;

/// The test results that a parser read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedOutput {
    /// One entry per name, sorted by name.
    pub tests: Vec<TestResult>,
    /// Number of tests that ran; `None` if the output does not say.
    pub collected: Option<u32>,
    /// A readable form of the output, if the runner's format is for machines.
    pub readable: Option<String>,
    /// Failed tests with their messages from report files, which are deleted after the run.
    pub failures: Vec<(String, String)>,
}

/// Parses the output or, if the parser reads reports, the contents of the report files.
pub fn parse(parser: Parser, output: &str, reports: &[String]) -> ParsedOutput {
    match parser {
        Parser::None => ParsedOutput::default(),
        Parser::Cargo => libtest::parse(output),
        Parser::Nextest => nextest::parse(output),
        Parser::Pytest => pytest::parse(output),
        Parser::Unittest => unittest::parse(output),
        Parser::Node => node::parse(output),
        Parser::Jest => jest::parse(reports),
        Parser::Go => go::parse(output),
        Parser::Tap => tap::parse(output),
        Parser::Junit => junit::parse(reports),
    }
}

/// How many tests one line of a running check's output ends, for people who watch. Runners that report at their end, or a
/// test over several lines, yield none.
pub fn tests_ended_in(parser: Parser, line: &str) -> u64 {
    let ended = parse(parser, line, &[]).tests;
    ended.iter().filter(|test| test.end != TestEnd::Skipped).count() as u64
}

/// Results by test name. A test that is listed twice keeps the worse result, so a spoofed pass cannot hide a failure.
#[derive(Debug, Default)]
struct Ends(BTreeMap<String, TestEnd>);

impl Ends {
    fn add(&mut self, name: impl Into<String>, end: TestEnd) {
        let kept = self.0.entry(name.into()).or_insert(end);
        let badness = |end: TestEnd| match end {
            TestEnd::Passed => 0,
            TestEnd::Skipped => 1,
            TestEnd::Flaky => 2,
            TestEnd::Failed => 3,
        };
        if badness(end) > badness(*kept) {
            *kept = end;
        }
    }

    /// Number of tests that ran.
    fn len(&self) -> u32 {
        let ran = self.0.values().filter(|end| **end != TestEnd::Skipped).count();
        u32::try_from(ran).unwrap_or(u32::MAX)
    }

    fn into_output(self, collected: Option<u32>) -> ParsedOutput {
        let tests = self.0.into_iter().map(|(name, end)| TestResult { name, end }).collect();
        ParsedOutput { tests, collected, ..ParsedOutput::default() }
    }
}

/// The number directly before a word, as in `3 passed`.
fn number_before(line: &str, word: &str) -> u32 {
    line.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .windows(2)
        .find(|pair| pair[1] == word)
        .and_then(|pair| pair[0].parse().ok())
        .unwrap_or(0)
}
