//! Checks a workflow, from text to a proven program: parse, compile, apply the rules, explore.

use crate::compile::{Compiled, compile};
use crate::decode;
use crate::diagnostic::{Code, Diagnostic, DiagnosticSeverity, tidy};
use crate::explore::BoundCalculator;
use crate::roles::Roles;
use crate::rules;
use crate::source::SourceText;
use crate::yaml;

/// The result of checking a source.
#[derive(Clone, Debug)]
pub struct CheckedWorkflow {
    pub source: SourceText,
    /// All problems: errors first, then warnings, each in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// The program, if it compiled. It may still be rejected.
    pub compiled: Option<Compiled>,
}

impl CheckedWorkflow {
    /// Whether the workflow can run.
    pub fn accepted(&self) -> bool {
        self.compiled.is_some()
            && self.diagnostics.iter().all(|problem| problem.severity != DiagnosticSeverity::Error)
    }
}

/// Checks a workflow file from its bytes.
pub fn check_bytes(name: &str, bytes: &[u8], roles: &Roles) -> CheckedWorkflow {
    match yaml::decode(name, bytes) {
        Ok(source) => check(source, roles),
        Err(undecodable) => CheckedWorkflow {
            source: undecodable.source,
            diagnostics: vec![undecodable.problem],
            compiled: None,
        },
    }
}

/// Checks a workflow file. Reports as many problems as possible, but checks paths only if no error was found before.
pub fn check(source: SourceText, roles: &Roles) -> CheckedWorkflow {
    let mut problems = Vec::new();
    let compiled = parse_and_compile(&source, roles, &mut problems);
    if let Some(compiled) = &compiled {
        // The rules can check a program with missing routes, but not one with unreadable parts.
        if problems.iter().all(|problem| problem.code == Code::NoRoute || problem.code == Code::Exception) {
            rules::check_local(compiled, &mut problems);
        }
        if problems.iter().all(|problem| problem.severity != DiagnosticSeverity::Error) {
            let mut bounds = BoundCalculator::new(&compiled.program);
            rules::check_paths(compiled, &mut bounds, &mut problems);
        }
    }
    CheckedWorkflow { source, diagnostics: tidy(problems), compiled }
}

fn parse_and_compile(source: &SourceText, roles: &Roles, problems: &mut Vec<Diagnostic>) -> Option<Compiled> {
    let root = yaml::parse(source, problems)?;
    let file = decode::decode(&root, problems)?;
    Some(compile(&file, source, roles, problems))
}

/// Checks a shipped workflow.
pub fn check_shipped(name: &str) -> Option<CheckedWorkflow> {
    let text = crate::shipped::workflow(name)?;
    Some(check(SourceText::new(format!("{name}.yaml"), text), &Roles::shipped()))
}
