//! Role files of other tools: used unchanged, shown by `import`, and written by `export`.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL};
use remand_workflow::foreign::AgentTool;
use remand_workflow::permissions::Writable;
use remand_workflow::roles::Roles;
use remand_workflow::shipped;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The sections that every agent definition has, in order.
const SECTIONS: [&str; 9] = [
    "Role & Purpose",
    "Input Schema",
    "Output Schema",
    "Workflow",
    "Completion Contract",
    "Operating Rules",
    "Self-Verification",
    "Tool Access",
    "Anti-Drift Anchor",
];

const SUBAGENT: &str = "---\nname: security-reviewer\ndescription: Looks for holes: all of them.\ntools: Read, Bash, \
                        WebFetch\nmodel: opus\ncolor: red\n---\n\nYou look for holes.\n";

/// Exports a workflow to a folder next to the project.
fn export(place: &Place, tool: AgentTool, workflow: &str) -> PathBuf {
    let folder = place.project().with_file_name(format!("{workflow}-{}", tool.name()));
    let path = folder.to_str().expect("a path");
    let shown = place.remand(&["export", "--to", tool.name(), path, "--workflow", workflow]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    folder
}

/// Every file below a folder by its path, sorted.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").flatten() {
            match entry.file_type().expect("a type").is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let path = entry.path().strip_prefix(folder).expect("below").display().to_string();
                    found.push((path, fs::read_to_string(entry.path()).expect("text")));
                }
            }
        }
    }
    found.sort();
    found
}

fn is_agent(path: &str) -> bool {
    path.ends_with(".agent.md")
        || path.starts_with(".claude/agents/")
        || path.starts_with(".opencode/agents/")
}

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ snapshot_path => "snapshots/export", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

// BY-08
#[test]
fn feature_exported_for_each_tool_matches_its_files() {
    let place = Place::new();
    for tool in AgentTool::ALL {
        let files = files(&export(&place, *tool, "feature"));
        let listed: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        let mut fronts = String::new();
        for (path, text) in files.iter().filter(|(path, _)| is_agent(path)) {
            let front = text.split("\n---\n").next().unwrap_or_default();
            fronts.push_str(&format!("== {path}\n{front}\n---\n"));
        }
        snapshot(&format!("{}-files", tool.name()), &format!("{}\n\n{fronts}", listed.join("\n")));
        let whole: &[&str] = match tool {
            AgentTool::Copilot => &[
                "README.md",
                ".github/agents/orchestrator.agent.md",
                ".github/agents/reviewer.agent.md",
                ".github/agents/dispatch-patterns.md",
                ".github/agents/severity-taxonomy.md",
                ".github/prompts/feature-workflow.prompt.md",
            ],
            AgentTool::Claude => &[".claude/agents/implementer.md", ".claude/commands/feature-workflow.md"],
            AgentTool::Opencode => {
                &[".opencode/agents/researcher.md", ".opencode/commands/feature-workflow.md"]
            }
        };
        for path in whole {
            let (_, text) = files.iter().find(|(known, _)| known == path).expect(path);
            let name = Path::new(path).file_name().expect("a name").to_string_lossy().into_owned();
            snapshot(&format!("{}-{name}", tool.name()), text);
        }
    }
}

// BY-08
#[test]
fn every_workflow_can_be_exported_to_every_tool_and_comes_back_with_the_same_permissions() {
    let place = Place::new();
    let ours = Roles::shipped();
    let refused = place.remand(&["export", "out", "--to", "claude", "--workflow", "vet"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("the workflow vet has no roles"), "{}", refused.err);
    for (workflow, _) in shipped::WORKFLOWS.iter().filter(|(workflow, _)| *workflow != "vet") {
        for tool in AgentTool::ALL {
            let folder = export(&place, *tool, workflow);
            let files = files(&folder);
            let mut arguments = vec!["import".to_string(), "--json".to_string()];
            for (path, text) in &files {
                if path.ends_with(".json") {
                    let schema: Value = serde_json::from_str(text).expect("JSON");
                    assert!(jsonschema::meta::is_valid(&schema), "{path}");
                }
                if !is_agent(path) {
                    continue;
                }
                let headings: Vec<&str> = text
                    .lines()
                    .filter_map(|line| line.strip_prefix("## "))
                    .filter(|heading| SECTIONS.contains(heading))
                    .collect();
                assert_eq!(headings, SECTIONS, "{path}");
                assert!(text.len() < 30_000, "{path} is more than Copilot takes: {}", text.len());
                if !path.contains("orchestrator") {
                    arguments.push(folder.join(path).display().to_string());
                }
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let shown = place.remand(&arguments);
            assert_eq!(shown.code, 0, "{workflow} {}: {}", tool.name(), shown.err);
            let imported: Value = serde_json::from_str(&shown.out).expect("JSON");
            let imported = imported.as_array().expect("a list");
            assert_eq!(imported.len(), arguments.len() - 2);
            for role in imported {
                let spec = ours.get(role["role"].as_str().expect("a role")).expect("ours");
                let places: Vec<&str> = spec.may_write.iter().copied().map(Writable::name).collect();
                assert_eq!(role["may-write"], serde_json::json!(places), "{role}");
                assert_eq!((&role["shell"], &role["network"]), (&spec.shell.into(), &spec.network.into()));
                assert_eq!(role["about"], spec.about.as_str());
            }
        }
    }
}

// BY-08
#[test]
fn an_export_is_never_written_over_something_else_and_may_be_repeated() {
    let place = Place::new();
    let at = |arguments: &[&str]| place.remand(&[&["export", "--to", "copilot", "."], arguments].concat());
    assert_eq!(at(&[]).code, 0);
    assert_eq!(
        fs::read_to_string(place.project().join("README.md")).expect("a file"),
        "# sums\n",
        "left alone"
    );
    assert!(place.project().join("REMAND.md").is_file());
    let before = files(&place.project().join(".github"));
    let again: Value = serde_json::from_str(&at(&["--json"]).out).expect("JSON");
    let outcomes = again["files"].as_array().expect("files").iter().map(|file| &file["outcome"]);
    assert!(outcomes.clone().count() > 14 && outcomes.clone().all(|outcome| outcome == "same"), "{again}");
    place.write(".github/agents/planner.agent.md", "mine\n");
    fs::remove_file(place.project().join("REMAND.md")).expect("removed");
    let refused = at(&[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("planner.agent.md") && refused.err.contains("--force"), "{}", refused.err);
    assert!(!place.project().join("REMAND.md").exists(), "nothing is written");
    let forced: Value = serde_json::from_str(&at(&["--force", "--json"]).out).expect("JSON");
    let replaced =
        forced["files"].as_array().expect("files").iter().filter(|file| file["outcome"] == "replaced");
    assert_eq!(replaced.count(), 1, "{forced}");
    assert_eq!(files(&place.project().join(".github")), before);
    #[cfg(unix)]
    {
        fs::remove_file(place.project().join("REMAND.md")).expect("removed");
        std::os::unix::fs::symlink("sums/add.py", place.project().join("REMAND.md")).expect("a link");
        let refused = at(&["--force"]);
        assert!(refused.err.contains("it is not a plain file"), "{refused:?}");
    }
}

// BY-08
#[test]
fn import_shows_how_a_file_is_used_and_writes_it_on_request() {
    let place = Place::new();
    place.write(".claude/agents/security-reviewer.md", SUBAGENT);
    let file = ".claude/agents/security-reviewer.md";
    let unnamed = place.remand(&["import", file]);
    assert!(unnamed.code == 1 && unnamed.err.contains("does not have the name of a role"), "{unnamed:?}");
    let shown = place.remand(&["import", file, "--role", "reviewer"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    snapshot("import", &shown.out);
    assert!(!place.project().join(".remand").exists());
    assert_eq!(place.remand(&["import", file, "--role", "reviewer", "--write"]).code, 0);
    let checked = place.remand(&["check", "quick", "feature"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let written = fs::read_to_string(place.project().join(".remand/roles/reviewer.md")).expect("written");
    assert!(written.contains("model: \"opus\"") && written.contains("You look for holes."), "{written}");
    place.write(
        ".remand/roles/reviewer.md",
        "---\nabout: Mine.\nsays: [approve, needs-revision, blocker]\n---\n\nMine.\n",
    );
    let refused = place.remand(&["import", file, "--role", "reviewer", "--write"]);
    assert!(refused.code == 1 && refused.err.contains("--force"), "{refused:?}");
    let own = place.remand(&["import", ".remand/roles/reviewer.md"]);
    assert!(own.err.contains("is already a role file of Remand"), "{own:?}");
    place.write("some/file.md", "---\nname: reviewer\n---\n\nDo.\n");
    let unknown = place.remand(&["import", "some/file.md"]);
    assert!(unknown.err.contains("--from claude"), "{unknown:?}");
    assert_eq!(place.remand(&["import", "some/file.md", "--from", "claude"]).code, 0);
}

// BY-08 CORE-18
#[test]
fn a_run_uses_the_file_that_the_configuration_names_as_it_is() {
    let place = Place::configured(&format!(
        "{TRIVIAL}\n[roles.reviewer]\nfile = \".claude/agents/security-reviewer.md\"\n"
    ));
    place.write(".claude/agents/security-reviewer.md", SUBAGENT);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let note = "note: .claude/agents/security-reviewer.md:6: `color` is not used: it concerns the tool's user interface";
    assert!(shown.err.contains(note), "{}", shown.err);
    let run = place.latest();
    let reader = place.reader();
    let rows = reader.dispatches(&run.run).expect("dispatches");
    let prompts: Vec<String> = rows
        .iter()
        .filter_map(|row| row.prompt)
        .map(|id| String::from_utf8(reader.blob(id).expect("a prompt")).expect("text"))
        .collect();
    let reported =
        prompts.iter().filter(|prompt| prompt.starts_with("You look for holes.\n\n## What you return\n"));
    assert_eq!(reported.count(), 1, "{prompts:?}");
}

// BY-08
#[test]
fn a_file_that_cannot_be_used_for_its_role_is_refused_with_a_remedy() {
    let place = Place::new();
    place.write(".claude/agents/reader.md", "---\nname: reader\ntools: Read\n---\n\nRead.\n");
    for (table, reported) in [
        (
            "[roles.implementer]\nfile = \".claude/agents/reader.md\"\n",
            "the file gives it no tool that writes",
        ),
        ("[roles.revewer]\nfile = \".claude/agents/reader.md\"\n", "write `reviewer`"),
        ("[roles.reviewer]\nfile = \".claude/agents/gone.md\"\n", "cannot be read"),
        ("[roles.reviewer]\nfile = \"../outside.md\"\n", "remand.toml"),
    ] {
        place.write("remand.toml", table);
        let shown = place.remand(&["check", "quick"]);
        assert!(shown.code == 1 && shown.err.contains(reported), "{shown:?}");
    }
    place.write("remand.toml", "[roles.reviewer]\nfile = \".claude/agents/reader.md\"\n");
    assert_eq!(place.remand(&["check", "quick"]).code, 0);
}
