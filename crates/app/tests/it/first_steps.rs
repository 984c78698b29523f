//! The first commands of a new user: the bare command, the help, `init`, and a run without options.

use crate::place::{Place, shown};
use crate::rehearsed::{REQUEST, Script, TRIVIAL};
use remand_workflow::shipped;
use std::path::Path;

/// A place without agents of the machine and with these, each signed in or not.
fn with_agents(agents: &[(&str, bool)]) -> Place {
    let place = Place::configured(TRIVIAL).without_agents();
    for (name, is_signed_in) in agents {
        let program = place.write_program(name, "#!/bin/sh\nexit 1\n");
        // USER is set in every test.
        let key = if *is_signed_in { "USER" } else { "NOT_SET_IN_ANY_TEST" };
        place.add_user_settings(&format!(
            "[agents.{name}]\ntitle = \"{name}\"\ncommand = [{program:?}]\nspeaks = \"text\"\narguments = []\n\
             keys = [{key:?}]\n"
        ));
    }
    place
}

/// The bare command's answer to a machine, and the command that it suggests.
fn next(place: &Place) -> String {
    let shown = place.remand(&["--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let glance: serde_json::Value = serde_json::from_str(&shown.out).expect("pure JSON");
    glance["next"].as_str().expect("a command").to_string()
}

#[test]
fn the_bare_command_suggests_what_is_possible_here() {
    assert!(next(&with_agents(&[])).starts_with("npm install"), "an agent must be installed first");
    assert_eq!(next(&with_agents(&[("ada", true)])), "remand run \"what you want\"");
    assert_eq!(next(&with_agents(&[("ada", false)])), "sign in first");
    assert_eq!(next(&with_agents(&[("ada", false), ("bob", true)])), "remand run \"what you want\"");
    let unsure = with_agents(&[("ada", false), ("bob", false)]);
    assert_eq!(next(&unsure), "remand agents ada, which shows how to sign in");
    let several = with_agents(&[("ada", true), ("bob", true)]);
    assert_eq!(next(&several), "remand run \"what you want\" --agent ada");
    assert_eq!(several.remand(&["init"]).code, 1, "TRIVIAL is in remand.toml");
    several.write("remand.toml", "agent = \"bob\"\n[checks]\ndetect = false\n");
    several.git(&["commit", "-qam", "No checks"]);
    assert_eq!(next(&several), "add a build or a test under `[checks]` in remand.toml");
}

#[test]
fn the_bare_command_names_the_runs_that_need_the_user() {
    let place = with_agents(&[("ada", true)]);
    assert_eq!(place.feature(&Script::subtraction(), &["--interactive"]).code, 5);
    let run = place.latest().run;
    let shown = place.remand(&[]);
    assert!(shown.out.contains(&format!("remand gates {run}")), "{}", shown.out);
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    assert_eq!(place.remand(&["cancel", "latest"]).code, 0);
    assert_eq!(place.quick(&Script::quick(), &[]).code, 0);
    let merge = format!("git merge {}", place.latest().branch);
    let shown = place.remand(&[]).out;
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&merge), "{shown}");
    place.git(&["merge", "-q", &place.latest().branch]);
    assert!(!place.remand(&[]).out.contains("git merge"));
}

#[test]
fn the_help_fits_on_a_screen() {
    let place = Place::new();
    let mut command = place.command(&["--help"]);
    command.env("COLUMNS", "80");
    let help = shown(command);
    assert_eq!(help.code, 0, "{help:?}");
    assert!(help.out.lines().count() <= 48, "{}", help.out);
    assert!(help.out.lines().all(|line| line.chars().count() <= 80), "{}", help.out);
    assert_eq!(place.remand(&["help"]).out, place.remand(&["--help"]).out);
}

#[test]
fn init_names_the_agent_that_is_signed_in_in_about_ten_lines() {
    for (arguments, lines) in [(&["init"][..], 0..=14), (&["init", "--all"], 100..=500)] {
        let place = with_agents(&[("ada", false), ("bob", true)]);
        std::fs::remove_file(place.project().join("remand.toml")).expect("removed");
        let shown = place.remand(arguments);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(shown.out.contains("agent bob: installed and signed in"), "{}", shown.out);
        let written = std::fs::read_to_string(place.project().join("remand.toml")).expect("written");
        assert!(written.lines().any(|line| line == "agent = \"bob\""), "{written}");
        assert!(lines.contains(&written.lines().count()), "{written}");
        assert_eq!(place.remand(&["config"]).code, 0);
    }
}

#[test]
fn with_one_agent_that_is_signed_in_a_run_uses_it_and_says_so() {
    let place = with_agents(&[("ada", false), ("bob", true)]);
    let ran = place.remand(&["run", REQUEST, "--budget-dispatches", "1"]);
    assert!(ran.err.contains("agent bob, the only agent that is installed and signed in"), "{ran:?}");
    let doctor = place.remand(&["doctor"]);
    assert!(doctor.out.contains("bob, the only agent that is installed and signed in"), "{}", doctor.out);
}

#[test]
fn with_several_agents_and_none_chosen_run_and_doctor_ask_for_a_choice() {
    let place = with_agents(&[("ada", true), ("bob", true)]);
    let refused = place.remand(&["run", REQUEST]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let expected = "error: ada and bob are installed and signed in, but none is chosen\n";
    assert!(refused.err.contains(expected), "{}", refused.err);
    assert!(
        refused.err.contains("`--agent ada`") && refused.err.contains("`remand init`"),
        "{}",
        refused.err
    );
    let doctor = place.remand(&["doctor"]);
    assert!(
        doctor.out.contains("Choose an agent with `--agent`; everything else is ready"),
        "{}",
        doctor.out
    );
}

#[test]
fn the_form_of_the_request_decides_between_quick_and_feature() {
    let place = Place::configured(TRIVIAL);
    place.write_outside("wish.md", "Add subtraction.\n");
    let script = Script::quick().text();
    let ran = place.run(REQUEST, &script, &[]);
    assert_eq!((ran.code, place.latest().workflow.as_str()), (0, "quick"), "{ran:?}");
    assert!(ran.err.contains("workflow quick, because the request is one line"), "{}", ran.err);
    let script = Script::subtraction().text();
    for (request, why) in [
        ("Add subtraction\nto the sums", "the request has several lines"),
        ("../wish.md", "the request is a file"),
    ] {
        let ran = place.run(request, &script, &["--budget-dispatches", "1"]);
        assert_eq!(place.latest().workflow, "feature", "{ran:?}");
        assert!(ran.err.contains(&format!("workflow feature, because {why}")), "{}", ran.err);
    }
    assert_eq!(place.latest().request.trim(), "Add subtraction.");
    place.add_user_settings("workflow = \"tsp\"\n");
    let ran = place.run(REQUEST, &script, &["--budget-dispatches", "1"]);
    assert_eq!(place.latest().workflow, "tsp", "{ran:?}");
    assert!(ran.err.contains("workflow tsp, as set in "), "{}", ran.err);
}

#[test]
fn a_blank_request_is_refused_before_anything_is_created() {
    let place = Place::new();
    for blank in ["", "  \n\t", "-"] {
        let refused = place.run(blank, &Script::quick().text(), &[]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.starts_with("error: the request is empty\n"), "{}", refused.err);
    }
    let is_empty = |folder: &Path| std::fs::read_dir(folder).expect("a folder").next().is_none();
    assert!(is_empty(&place.state()), "nothing is created");
}

#[test]
fn check_without_a_name_checks_the_workflows_of_the_repository_or_else_the_shipped_ones() {
    let place = Place::new();
    let shipped = place.remand(&["check"]);
    assert_eq!((shipped.code, shipped.out.lines().count()), (0, shipped::WORKFLOWS.len()), "{shipped:?}");
    let quick = std::fs::read_to_string(crate::root().join("workflows/quick.yaml")).expect("quick");
    place.write(".remand/workflows/own.yaml", &quick.replace("name: quick", "name: own"));
    place.write(".remand/workflows/second.yaml", "name: second\n");
    let own = place.remand(&["check"]);
    assert_eq!((own.code, own.out.lines().count()), (3, 2), "{own:?}");
    assert!(own.out.starts_with("own: ends on every path"), "{}", own.out);
}
