//! Verifies that signatures stay as the stubs define them.

use super::{stub_tree_name, symbol_finding};
use crate::site::{Job, Trouble};
use remand_git::TreeId;
use remand_kernel::finding::{Finding, Severity};
use remand_source::{Body, Function, Language, ParsedSource};
use std::path::Path;

/// The functions of a file in a tree, except test functions; `None` if stubs of its language are not supported.
pub(super) fn functions(job: &Job, tree: &TreeId, path: &Path) -> Result<Option<Vec<Function>>, Trouble> {
    let language = match Language::of(path) {
        Some(
            language @ (Language::Rust
            | Language::Python
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx),
        ) => language,
        Some(
            Language::Go
            | Language::C
            | Language::Cpp
            | Language::Java
            | Language::Yaml
            | Language::Json
            | Language::Toml,
        )
        | None => return Ok(None),
    };
    let Some(bytes) = job.site.repository().read(tree, path)? else {
        return Ok(Some(Vec::new()));
    };
    let text = String::from_utf8_lossy(&bytes);
    let functions = ParsedSource::parse(language, &text).map(|source| source.functions()).unwrap_or_default();
    Ok(Some(functions.into_iter().filter(|function| !function.is_for_tests).collect()))
}

/// Reports stubs that are gone, have another signature, or still have no body.
pub fn findings(job: &Job, now: &TreeId) -> Result<Vec<Finding>, Trouble> {
    let Some(stubs) = job.trees.remembered(&stub_tree_name(job))? else {
        return Ok(Vec::new());
    };
    let base = job.trees.base_tree()?;
    let mut findings = Vec::new();
    for change in job.site.repository().changed(&base, &stubs)? {
        let Some(stub_functions) = functions(job, &stubs, &change.path)? else { continue };
        let current_functions = functions(job, now, &change.path)?.unwrap_or_default();
        let file = change.path.display().to_string();
        for stub in stub_functions.iter().filter(|function| function.body == Body::Stub) {
            let name = &stub.name;
            let claim = match current_functions.iter().find(|function| function.name == *name) {
                None => format!("`{name}`, a symbol of the stubs, is gone"),
                Some(function) if function.signature != stub.signature => {
                    format!(
                        "the stubs define `{name}` as `{}`, and it is `{}` now",
                        stub.signature, function.signature
                    )
                }
                Some(function) if function.body == Body::Stub => format!("`{name}` is still a stub"),
                Some(_) => continue,
            };
            findings.push(Finding { severity: Severity::Critical, ..symbol_finding(&file, name, claim) });
        }
    }
    Ok(findings)
}
