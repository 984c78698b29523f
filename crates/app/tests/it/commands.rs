//! Every command: its help, its happy path and its main error.

use crate::place::Place;
use crate::{root, run, shown};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let (code, out, err) = run(arguments);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).expect("pure JSON")
}

#[test]
fn help_says_what_each_command_does() {
    insta::assert_snapshot!("help", shown(&["--help"]));
    for command in ["check", "workflows", "matrix", "graph", "bound", "simulate", "walk", "reference"] {
        insta::assert_snapshot!(format!("help-{command}"), shown(&[command, "--help"]));
    }
}

// BY-03 CORE-02
#[test]
fn the_shipped_workflows_are_proven() {
    insta::assert_snapshot!(
        "check",
        shown(&["check", "feature", "issue", "ticket", "spec", "tsp", "quick", "vet", "vet-review"])
    );
    let all = json(&["check", "feature", "quick", "--json"]);
    assert_eq!(all["accepted"], true);
    assert_eq!(all["workflows"][0]["happy"], "14 + 2 per task");
}

// CORE-09
#[test]
fn a_refused_workflow_shows_the_location_the_path_and_the_remedy() {
    insta::assert_snapshot!("check-refused", shown(&["check", "fixtures/workflows/bad/refuted.yaml"]));
    let (code, out, _) = run(&["check", "--json", "fixtures/workflows/bad/refuted.yaml"]);
    assert_eq!(code, 3);
    let refused: Value = serde_json::from_str(&out).expect("pure JSON");
    assert_eq!(refused["workflows"][0]["diagnostics"][0]["id"], "G601");
    assert_eq!(refused["workflows"][0]["diagnostics"][0]["line"], 17);
}

#[test]
fn a_misspelt_workflow_name_suggests_the_nearest_one() {
    insta::assert_snapshot!("check-unknown", shown(&["check", "featur"]));
}

#[test]
fn workflows_are_listed() {
    insta::assert_snapshot!("workflows", shown(&["workflows"]));
    assert_eq!(json(&["workflows", "--json"]).as_array().map(Vec::len), Some(8));
}

#[test]
fn a_shipped_workflow_can_be_written_to_the_file_that_replaces_it() {
    let place = Place::new();
    // What a shell does before it starts a program whose output goes there.
    place.write(".remand/workflows/quick.yaml", "");
    let shown = place.remand(&["workflows", "quick"]);
    assert!(shown.code == 0 && shown.out.starts_with("name: quick\n"), "{shown:?}");
}

#[test]
fn workflows_of_the_repository_are_found_by_name_from_every_folder() {
    let place = Place::new();
    let own = std::fs::read_to_string(root().join("workflows/quick.yaml")).expect("a workflow");
    let own = own.replace("name: quick", "name: tiny").replace("about: ", "about: Ours. ");
    place.write(".remand/workflows/tiny.yaml", &own);
    let below = place.project().join("sums");
    let below = below.to_str().expect("a path");
    let listed = place.remand(&["-C", below, "workflows"]);
    assert!(listed.out.contains("tiny") && listed.out.contains("Ours. "), "{listed:?}");
    assert_eq!(place.remand(&["-C", below, "check", "tiny"]).code, 0);
    assert_eq!(place.remand(&["-C", below, "workflows", "tiny"]).out, own);
    let near = place.remand(&["-C", below, "check", "tini"]);
    assert!(near.err.contains("did you mean `tiny`?"), "{near:?}");
}

#[test]
fn the_matrix_reads_like_the_file() {
    insta::assert_snapshot!("matrix-quick", shown(&["matrix", "quick"]));
    insta::assert_snapshot!("matrix-issue", shown(&["matrix", "issue"]));
    let matrix = json(&["matrix", "issue", "--json"]).to_string();
    assert!(matrix.contains("remand plan spending plan-rework"), "{matrix}");
}

#[test]
fn graphs_come_in_four_formats() {
    insta::assert_snapshot!("graph-quick-text", shown(&["graph", "quick"]));
    insta::assert_snapshot!("graph-quick-mermaid", shown(&["graph", "quick", "--format", "mermaid"]));
    insta::assert_snapshot!("graph-quick-dot", shown(&["graph", "quick", "--format", "dot"]));
    for name in ["feature", "issue", "ticket", "spec", "tsp", "quick"] {
        let (code, svg, err) = run(&["graph", name, "--format", "svg"]);
        assert_eq!(code, 0, "{err}");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
        let (_, text, _) = run(&["graph", name]);
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{name} is too wide");
    }
}

// EP-31
#[test]
fn the_bound_of_feature_equals_the_bound_of_its_source() {
    insta::assert_snapshot!("bound", shown(&["bound", "feature", "--tasks", "6"]));
    assert_eq!(json(&["bound", "feature", "--tasks", "6", "--json"])["happy"], 26);
    let many = json(&["bound", "feature", "--tasks", "20", "--json"]);
    assert_eq!(many["happy"], 54);
    assert_eq!(many["worst"]["autonomous"]["retries"], 1);
    assert!(
        many["worst"]["interactive"]["dispatches"].as_u64()
            > many["worst"]["autonomous"]["dispatches"].as_u64()
    );
}

#[test]
fn a_walk_that_cannot_continue_says_where_it_stopped_and_which_steps_are_possible() {
    let folder = std::env::temp_dir().join(format!("remand-walk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    let file = folder.join("walk.yaml");
    std::fs::write(&file, "workflow: quick\nhappens:\n  - until: review\n  - review: aproved\n")
        .expect("written");
    let text = shown(&["walk", &file.display().to_string()]).replace(&folder.display().to_string(), "DIR");
    std::fs::remove_dir_all(&folder).expect("removed");
    insta::assert_snapshot!("walk-stuck", text);
}

#[test]
fn a_missing_walk_file_is_named() {
    insta::assert_snapshot!("walk-missing", shown(&["walk", "no-such-walk.yaml"]));
}

#[test]
fn roles_of_the_user_are_added_to_the_shipped_ones() {
    let folder = std::env::temp_dir().join(format!("remand-roles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    let role = "---\nabout: Translates.\nsays: [done]\n---\n\n# translator\n";
    std::fs::write(folder.join("translator.md"), role).expect("written");
    let workflow = folder.join("translate.yaml");
    let text = "name: translate\nabout: Translate.\nsubject: request\nphases:\n  translate: {role: translator, reads: \
                [request], writes: text, on: {done: done, no-result: fail}}\n";
    std::fs::write(&workflow, text).expect("written");
    let (workflow, roles) = (workflow.display().to_string(), folder.display().to_string());
    let (refused, ..) = run(&["check", &workflow]);
    let (accepted, _, err) = run(&["check", &workflow, "--roles", &roles]);
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!((refused, accepted), (3, 0), "{err}");
}

// HO-07
#[test]
fn the_committed_briefs_match_the_workflows() {
    let (_, briefs, _) = run(&["brief", "--markdown"]);
    let committed = std::fs::read_to_string(root().join("docs/reference/briefs.md")).expect("committed");
    assert!(
        committed == briefs,
        "run `cargo run -q -p remand -- brief --markdown > docs/reference/briefs.md`"
    );
}

#[test]
fn the_committed_reference_matches_the_code() {
    let (_, reference, _) = run(&["reference"]);
    let committed =
        std::fs::read_to_string(root().join("docs/reference/workflow-language.md")).expect("committed");
    assert!(
        committed == reference,
        "run `cargo run -q -p remand -- reference > docs/reference/workflow-language.md`"
    );
}
