//! The files in the how-to page about writing a workflow are checked and run.

use crate::place::Place;

const PAGE: &str = include_str!("../../../../docs/how-to/own-workflow.md");

/// The code blocks of the page that name their file in the first line, without that line.
fn files() -> Vec<(String, String)> {
    let blocks = PAGE.split("\n```").skip(1).step_by(2);
    let named = blocks.filter_map(|block| {
        let (_, body) = block.split_once('\n')?;
        let (first, rest) = body.split_once('\n')?;
        let comment = |first: &'static str| first.strip_prefix("<!-- ")?.strip_suffix(" -->");
        let name = first.strip_prefix("# ").or_else(|| comment(first))?;
        name.contains('.').then(|| (name.to_string(), format!("{rest}\n")))
    });
    named.collect()
}

// UP-06
#[test]
fn the_workflow_of_the_page_makes_a_commit_in_a_repository_with_only_a_readme() {
    let place = Place::new();
    place.git(&["rm", "-qr", "."]);
    place.write("README.md", "# Sums\n\nIt adds.\n");
    let files = files();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            ".remand/workflows/translate.yaml",
            ".remand/roles/translator.md",
            ".remand/roles/proof-reader.md",
            "remand.toml",
            "rehearsal.yaml",
        ]
    );
    for (name, text) in &files[..4] {
        place.write(name, text);
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Our workflow"]);

    let checked = place.remand(&["check", ".remand/workflows/translate.yaml"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let ran = place.run("Translate README.md into German.", &files[4].1, &["--workflow", "translate"]);

    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let run = place.latest();
    assert_eq!((run.workflow.as_str(), run.used.dispatches), ("translate", 4));
    let text = place.git(&["show", &format!("{}:README.de.md", run.branch)]);
    assert_eq!(text, "# Summen\n\nHier wird gerechnet.\n");
}

#[test]
fn without_a_budget_the_workflow_of_the_page_is_refused() {
    let place = Place::new();
    for (name, text) in &files()[..3] {
        place.write(name, &text.replace(" spending rework", ""));
    }
    let checked = place.remand(&["check", ".remand/workflows/translate.yaml"]);
    assert_eq!(checked.code, 3, "{}{}", checked.out, checked.err);
}
