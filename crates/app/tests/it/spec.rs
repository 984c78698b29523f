//! Whole runs of `spec`: a real specification in a real repository, and real agent processes that play scripts.

mod conflict;
mod documents;
mod failures;
mod going_back;
mod kills;
mod progress;
mod rehearsed;

use crate::place::{Place, Shown, shown};
use crate::rehearsed::Script;
use remand_kernel::gaps::Board;
use serde_json::Value;

const FILE: &str = "docs/sessions.md";

const SPEC: &str = "# Sessions\n\nHow a user stays logged in.\n\n## Login\n\nA user logs in with a name and a password. \
                    After some failed tries the\naccount is locked.\n\n## Storage\n\nSessions are stored on the server.\n\n\
                    ## Expiry\n\nA session ends after a while.\n";

/// A specification that two rounds refined.
pub fn refined() -> Place {
    let place = place();
    assert_eq!(begin(&place, &documents::two_rounds(), &[]).code, 0);
    place
}

/// A repository with a specification.
fn place() -> Place {
    place_with(&[])
}

/// A repository with a specification and these files.
fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    place.write(FILE, SPEC);
    for (path, text) in files {
        place.write(path, text);
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "The specification"]);
    place
}

fn begin(place: &Place, script: &Script, more: &[&str]) -> Shown {
    let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
    let mut arguments = vec!["run", "--spec", FILE, "--agent", agent.as_str()];
    arguments.extend(more);
    place.remand(&arguments)
}

/// A file in the folder of the newest run.
fn document(place: &Place, name: &str) -> String {
    let path = place.home().join("runs").join(&place.latest().run.0).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn has_document(place: &Place, name: &str) -> bool {
    place.home().join("runs").join(&place.latest().run.0).join(name).exists()
}

/// The latest board in the ledger.
fn board(place: &Place) -> Board {
    let (reader, run) = (place.reader(), place.latest().run);
    let rows = reader.artifact_versions(&run, "gaps").expect("versions");
    let last = rows.iter().rfind(|row| row.format == "json").expect("a board");
    serde_json::from_slice(&reader.blob(last.blob).expect("a blob")).expect("a board")
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    let shown = place.remand(arguments);
    assert_eq!(shown.code, 0, "{shown:?}");
    serde_json::from_str(&shown.out).expect("pure JSON")
}

/// The inputs with this name that the dispatches of a role got, in order.
fn inputs_of(place: &Place, role: &str, name: &str) -> Vec<String> {
    let (reader, run) = (place.reader(), place.latest().run);
    let rows = reader.dispatches(&run).expect("dispatches");
    let of_role = rows.iter().filter(|row| row.role == role);
    of_role.map(|row| place.brief_part(&run, &row.command, name).unwrap_or_default()).collect()
}

/// The prompts of the dispatches of a role, in order.
fn prompts(place: &Place, role: &str) -> Vec<String> {
    let (reader, run) = (place.reader(), place.latest().run);
    let rows = reader.dispatches(&run).expect("dispatches");
    let of_role = rows.iter().filter(|row| row.role == role);
    of_role
        .map(|row| reader.blob(row.prompt.expect("a prompt")).expect("a blob"))
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// The committed specification.
fn committed(place: &Place, path: &str) -> String {
    place.git(&["show", &format!("{}:{path}", place.latest().branch)])
}

#[test]
fn a_demonstration_uses_the_state_directory_of_its_environment() {
    let place = Place::new();
    let into = place.project().with_file_name("shown");
    let shown = shown(place.command(&["demo", "spec", "--into", into.to_str().expect("text")]));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("3 gaps, 0 open"), "{}", shown.out);
    assert!(!into.join("state").exists(), "the state is elsewhere");
}

#[test]
fn the_demonstration_shows_a_stall_a_rollback_a_conflict_and_its_decision() {
    let place = Place::new();
    let into = place.project().with_file_name("shown");
    let mut command = place.command(&["demo", "spec", "--into", into.to_str().expect("text")]);
    command.env_remove("REMAND_STATE_DIR");
    let shown = shown(command);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let story = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = story.as_str();
    for part in [
        "close-round stalled",
        "the demonstration rolls back to round 2",
        "round-end roll-back",
        "close-round conflict",
        "the demonstration answers for you: decided (“ISSUE-R1-001: 3 because",
        "decide decided",
        "close-round complete",
        "write-up committed",
        "round 2 was rolled back: The proposals got more abstract, not less.",
        "3 gaps, 0 open",
    ] {
        let (_, behind) = rest.split_once(part).unwrap_or_else(|| panic!("no {part} in {rest}"));
        rest = behind;
    }
}
