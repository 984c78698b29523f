//! Checks a workflow, from text to a proven program: parse, compile, apply the rules, explore.

use crate::compile::{Compiled, compile};
use crate::decode;
use crate::diagnostic::{Code, Diagnostic, DiagnosticSeverity, tidy};
use crate::explore::BoundCalculator;
use crate::file::WorkflowFile;
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
    let file = yaml::parse(&source, &mut problems).and_then(|root| decode::decode(&root, &mut problems));
    match file {
        Some(file) => check_compiled(compile(&file, &source, roles, &mut problems), source, problems),
        None => CheckedWorkflow { source, diagnostics: tidy(problems), compiled: None },
    }
}

/// Checks a workflow that was changed after it was read. Positions refer to the source that it was read from.
pub fn check_changed(file: &WorkflowFile, source: SourceText, roles: &Roles) -> CheckedWorkflow {
    let mut problems = Vec::new();
    let compiled = compile(file, &source, roles, &mut problems);
    check_compiled(compiled, source, problems)
}

fn check_compiled(compiled: Compiled, source: SourceText, mut problems: Vec<Diagnostic>) -> CheckedWorkflow {
    // The rules can check a program with missing routes, but not one with unreadable parts.
    if problems.iter().all(|problem| problem.code == Code::NoRoute || problem.code == Code::Exception) {
        rules::check_local(&compiled, &mut problems);
    }
    if problems.iter().all(|problem| problem.severity != DiagnosticSeverity::Error) {
        let mut bounds = BoundCalculator::new(&compiled.program);
        rules::check_paths(&compiled, &mut bounds, &mut problems);
    }
    CheckedWorkflow { source, diagnostics: tidy(problems), compiled: Some(compiled) }
}

/// Checks a shipped workflow.
pub fn check_shipped(name: &str) -> Option<CheckedWorkflow> {
    let text = crate::shipped::workflow(name)?;
    Some(check(SourceText::new(format!("{name}.yaml"), text), &Roles::shipped()))
}
