//! The whole way from text to a proven program: parse, compile, rules, exploration.

use crate::compile::{Compiled, compile};
use crate::decode;
use crate::diagnostic::{Code, Diagnostic, Severity, tidy};
use crate::explore::Bounds;
use crate::roles::Roles;
use crate::rules;
use crate::source::Source;
use crate::yaml;

/// What came of checking a source.
#[derive(Clone, Debug)]
pub struct Checked {
    pub source: Source,
    /// Everything that is wrong, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The program, if it could be compiled; it may still be refused.
    pub compiled: Option<Compiled>,
}

impl Checked {
    /// Nothing speaks against running it.
    pub fn accepted(&self) -> bool {
        self.compiled.is_some() && self.diagnostics.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// Checks a workflow file from its bytes.
pub fn check_bytes(name: &str, bytes: &[u8], roles: &Roles) -> Checked {
    match yaml::decode(name, bytes) {
        Ok(source) => check(source, roles),
        Err(undecodable) => {
            Checked { source: undecodable.source, diagnostics: vec![undecodable.problem], compiled: None }
        }
    }
}

/// Checks a workflow file: everything that can be reported is, and each proof is tried only on a program for which
/// the ones before it hold.
pub fn check(source: Source, roles: &Roles) -> Checked {
    let mut problems = Vec::new();
    let compiled = read(&source, roles, &mut problems);
    if let Some(compiled) = &compiled {
        // A missing route says nothing about the others; an unreadable one may say anything.
        if problems.iter().all(|problem| problem.code == Code::NoRoute || problem.code == Code::Exception) {
            rules::check_local(compiled, &mut problems);
        }
        if problems.iter().all(|problem| problem.severity != Severity::Error) {
            let mut bounds = Bounds::new(&compiled.program);
            rules::check_paths(compiled, &mut bounds, &mut problems);
        }
    }
    Checked { source, diagnostics: tidy(problems), compiled }
}

fn read(source: &Source, roles: &Roles, problems: &mut Vec<Diagnostic>) -> Option<Compiled> {
    let root = yaml::parse(source, problems)?;
    let file = decode::decode(&root, problems)?;
    Some(compile(&file, source, roles, problems))
}

/// A shipped workflow, checked.
pub fn shipped(name: &str) -> Option<Checked> {
    let text = crate::shipped::workflow(name)?;
    Some(check(Source::new(format!("{name}.yaml"), text), &Roles::shipped()))
}
