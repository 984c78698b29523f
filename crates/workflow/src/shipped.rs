//! The workflows and roles that Remand ships, as embedded data.

macro_rules! embedded {
    ($folder:literal, $extension:literal, $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, $extension)))),*]
    };
}

/// Shipped workflows by name.
pub const WORKFLOWS: &[(&str, &str)] = embedded!(
    "workflows",
    ".yaml",
    "feature",
    "quick",
    "issue",
    "ticket",
    "spec",
    "tsp",
    "vet",
    "vet-review"
);

/// Shipped role files by name.
pub const ROLES: &[(&str, &str)] = embedded!(
    "roles",
    ".md",
    "architect",
    "check",
    "coder",
    "design-reviewer",
    "designer",
    "documenter",
    "engineer",
    "findings",
    "impl-reviewer",
    "implementer",
    "knowledge",
    "make",
    "plan",
    "planner",
    "prototyper",
    "researcher",
    "reviewer",
    "simplify",
    "spec-reviewer",
    "spec",
    "test-writer",
    "test",
    "tsp-analyst",
    "tsp-code-reviewer",
    "tsp-coder",
    "tsp-design-reviewer",
    "tsp-designer",
    "tsp-planner",
    "tsp-tester",
    "verifier",
);

/// The text of a shipped workflow.
pub fn workflow(name: &str) -> Option<&'static str> {
    WORKFLOWS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
