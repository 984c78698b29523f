//! Golden tests: every command that works on runs, with its help, its happy path and its main error, word for word.

mod demo;
mod issues;
mod journey;
mod redaction;

use crate::place::{Place, shown};
use crate::rehearsed::{SUB, Script, TRIVIAL, implemented, review, role};
use redaction::{join_lines, narrow_columns, redact, without_machine_facts, without_sandbox_level};
use serde_json::json;
use std::path::PathBuf;

const COMMANDS: [&str; 33] = [
    "init",
    "run",
    "output",
    "resume",
    "retry",
    "status",
    "ticket",
    "runs",
    "log",
    "findings",
    "gaps",
    "rounds",
    "defects",
    "stats",
    "estimate",
    "costs",
    "show",
    "diff",
    "evidence",
    "record",
    "gates",
    "answer",
    "cancel",
    "rollback",
    "audit",
    "clean",
    "agents",
    "doctor",
    "config",
    "demo",
    "gauntlet",
    "completions",
    "man",
];

impl Place {
    /// The folder with all files of the test.
    fn folder_of_test(&self) -> PathBuf {
        self.project().parent().expect("a folder").to_path_buf()
    }

    /// Runs each command line and returns the whole transcript, redacted. There is no colour, because no stream is a
    /// terminal.
    fn transcript(&self, lines: &[&[&str]]) -> String {
        let mut text = String::new();
        for arguments in lines {
            let mut command = self.command(arguments);
            command.env_remove("NO_COLOR").env("TERM", "xterm-256color").env("CLICOLOR", "1");
            let shown = shown(command);
            for stream in [&shown.out, &shown.err] {
                assert!(!stream.contains('\u{1b}'), "an escape in {arguments:?}: {stream:?}");
            }
            text.push_str(&format!("$ remand {}\n{}", command_line(arguments), shown.out));
            if !text.ends_with('\n') {
                text.push_str(" (and no end of line)\n");
            }
            if !shown.err.is_empty() {
                text.push_str(&format!("stderr:\n{}", shown.err));
            }
            text.push_str(&format!("exit code {}\n\n", shown.code));
        }
        redact(&text, &self.folder_of_test())
    }
}

/// A command line as a user types it.
fn command_line(arguments: &[&str]) -> String {
    let quoted = |word: &&str| match word.is_empty() || word.contains(' ') {
        true => format!("{word:?}"),
        false => word.to_string(),
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The first lines of a long text.
fn first_lines(lines: usize, text: &str) -> String {
    text.lines().take(lines).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_command_has_a_help() {
    for command in COMMANDS {
        insta::assert_snapshot!(format!("help-{command}"), crate::shown(&[command, "--help"]));
    }
}

#[test]
fn without_runs_lists_are_empty_and_other_commands_say_how_to_start() {
    let place = Place::configured(TRIVIAL);
    let lines: &[&[&str]] = &[
        &["runs"],
        &["status"],
        &["gates"],
        &["gates", "--all"],
        &["status", "latest"],
        &["log"],
        &["findings"],
        &["gaps"],
        &["rounds"],
        &["defects"],
        &["stats"],
        &["estimate"],
        &["costs"],
        &["show", "plan"],
        &["diff"],
        &["evidence"],
        &["record", "latest", "again.yaml"],
        &["audit"],
        &["resume"],
        &["answer", "latest", "proceed"],
        &["cancel", "latest"],
        &["rollback", "latest", "--yes"],
        &["clean"],
    ];
    insta::assert_snapshot!("nothing-ran", place.transcript(lines));
    insta::assert_snapshot!("no-repository", place.transcript(&[&["-C", "/", "runs"], &["-C", "/", "init"]]));
}

#[test]
fn the_bare_command_says_what_it_finds_and_what_to_do_next() {
    let place = Place::configured(TRIVIAL).without_agents();
    let mut text = place.transcript(&[&["-C", "/"], &[]]);
    for (name, key) in [("ada", "USER"), ("bob", "NOT_SET_IN_ANY_TEST")] {
        let program = place.write_program(name, "#!/bin/sh\nexit 1\n");
        place.add_user_settings(&format!(
            "[agents.{name}]\ntitle = \"{name}\"\ncommand = [{program:?}]\narguments = []\nkeys = [{key:?}]\n"
        ));
    }
    place.write("notes.txt", "mine\n");
    text.push_str(&place.transcript(&[&[]]));
    let agent = place.write_outside("rehearsal.yaml", &Script::subtraction().text());
    let agent = format!("rehearsal:{agent}");
    let asked =
        place.remand(&["run", "Add subtraction", "-w", "feature", "--interactive", "--agent", &agent]);
    assert_eq!(asked.code, 5, "{asked:?}");
    text.push_str(&place.transcript(&[&[], &["--json"]]));
    insta::assert_snapshot!("bare", text);
}

#[test]
fn gaps_and_rounds_are_shown_as_tables_and_a_chart() {
    let place = crate::spec::refined();
    let lines: &[&[&str]] = &[
        &["rounds"],
        &["gaps"],
        &["gaps", "--moves"],
        &["gaps", "--open"],
        &["rounds", "rollback", "latest", "--to", "1"],
        &["rounds", "rollback", "latest"],
        &["rounds", "rollback", "--help"],
    ];
    insta::assert_snapshot!("rounds", place.transcript(lines));
}

#[test]
fn a_run_that_cannot_start_says_what_is_missing() {
    let place = Place::configured(TRIVIAL).without_agents();
    let rehearsal = place.write_outside("empty.yaml", "rehearsal: 1\nabout: Nobody.\ndispatches: []\n");
    let broken = format!("rehearsal:{}", place.write_outside("broken.yaml", "rehearsal: 1\nscenes: []\n"));
    let rehearsal = format!("rehearsal:{rehearsal}");
    let lines: &[&[&str]] = &[
        &["run"],
        &["run", "Add subtraction"],
        &["run", "Add subtraction", "--agent", "oracle"],
        &["run", "Add subtraction", "--agent", "rehearsal:none.yaml"],
        &["run", "Add subtraction", "--agent", &broken],
        &["run", "Add subtraction", "--agent", &rehearsal, "--workflow", "featur"],
        &["run", "Add subtraction", "--agent", &rehearsal, "--budget-money", "much"],
        &["run", "Add subtraction", "--agent", &rehearsal, "--interactive", "--autonomous"],
        &["runs"],
    ];
    insta::assert_snapshot!("run-refused", place.transcript(lines));
}

#[test]
fn settings_are_written_shown_and_refused() {
    let mut text = Place::new().without_agents().transcript(&[&["init"], &["init"]]);
    let place = Place::new();
    place.write("remand.toml", TRIVIAL);
    text.push_str(&narrow_columns(&place.transcript(&[
        &["config"],
        &["config", "checks"],
        &["config", "chekcs"],
    ])));
    place.write("remand.toml", "workflo = \"quick\"\n\n[limits]\nmoney = \"much\"\n");
    text.push_str(&place.transcript(&[&["config"]]));
    insta::assert_snapshot!("settings", text);
}

#[test]
fn agents_are_listed_with_their_program_version_and_sign_in() {
    let place = Place::configured(TRIVIAL).without_agents();
    let absent: &[&[&str]] = &[&["agents"], &["agents", "codex"], &["agents", "cluade"]];
    let mut text = place.transcript(absent);
    let slow = place.write_program("slow", "#!/bin/sh\nsleep 0.5\necho slow v2.0.1\n");
    let mute = place.write_program("mute", "#!/bin/sh\nexit 1\n");
    let own = format!(
        "[agents.home]\ntitle = \"Home-made\"\ncommand = [{:?}]\nspeaks = \"text\"\narguments = []\n\
         tried = \"1.2.0\"\nkeys = [\"USER\"]\nspends = \"sends to nobody; spends nothing\"\n\n\
         [agents.mute]\ntitle = \"Mute\"\ncommand = [{mute:?}]\narguments = []\ncredentials = [\".gitconfig\"]\n\n\
         [agents.slow]\ntitle = \"Slow\"\ncommand = [{slow:?}]\narguments = []\ntried = \"2.0.1\"\n",
        place.write_program("home-made", "#!/bin/sh\necho \"home-made version 1.2.3 (linux)\"\n")
    );
    place.add_user_settings(&own);
    text.push_str(&place.transcript(&[&["agents"], &["agents", "home"], &["agents", "mute", "--json"]]));
    insta::assert_snapshot!("agents", without_sandbox_level(&text));
}

// CORE-11 EP-26
#[test]
fn costs_are_grouped_as_asked() {
    let price = "[prices.house]\ninput = 1.25\noutput = 10\ncached = 0.125\n";
    let place = Place::configured(&format!("{TRIVIAL}\n{price}"));
    let kinds = json!({"tokens": {"input": 1_200, "output": 300, "cached": 20_000}});
    let reviewer = role("reviewer").used(kinds).model("house-2026-01-31");
    let reviewer = reviewer.says(review("code", "general", "approve", &[]));
    let silent = role("implementer").used(json!({})).writes("sums/sub.py", SUB).says(implemented(""));
    for script in [Script::quick().with(reviewer.clone()), Script::quick().with(silent).with(reviewer)] {
        let limits = ["--budget-money", "2", "--budget-tokens", "1M", "--budget-dispatches", "9"];
        let shown = place.quick(&script, &limits);
        assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    }
    let lines: &[&[&str]] = &[
        &["costs"],
        &["costs", "--by", "model"],
        &["costs", "--by", "agent"],
        &["costs", "--all", "--by", "phase"],
        &["costs", "--all", "--by", "run"],
        &["costs", "--all", "latest"],
        &["costs", "nobody"],
    ];
    insta::assert_snapshot!("costs", narrow_columns(&place.transcript(lines)));
}

#[test]
fn doctor_lists_its_results_and_fails_if_no_run_can_work() {
    let place = Place::configured(TRIVIAL).without_agents();
    insta::assert_snapshot!("doctor", without_machine_facts(&join_lines(&place.transcript(&[&["doctor"]]))));
    place.write("remand.toml", "workflo = \"quick\"\n");
    insta::assert_snapshot!(
        "doctor-failing",
        without_machine_facts(&join_lines(&place.transcript(&[&["doctor"]])))
    );
}

#[test]
fn completions_and_manual_pages_are_made_from_the_command_line() {
    let place = Place::new();
    insta::assert_snapshot!(
        "completions-bash",
        first_lines(12, &place.transcript(&[&["completions", "bash"]]))
    );
    insta::assert_snapshot!("man", first_lines(14, &place.transcript(&[&["man"]])));
    let pages = place.folder_of_test().join("pages").display().to_string();
    insta::assert_snapshot!("man-pages", place.transcript(&[&["man", &pages], &["completions", "tcsh"]]));
}

#[test]
fn the_bench_says_what_it_measures() {
    insta::assert_snapshot!("help-bench", crate::shown(&["bench", "--help"]));
    insta::assert_snapshot!("help-bench-journal", crate::shown(&["bench", "journal", "--help"]));
    let place = Place::new();
    insta::assert_snapshot!("bench-refused", place.transcript(&[&["bench", "jornal"]]));
    let measured = place.remand(&["bench", "journal", "--part", "1000", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&measured.out).expect("pure JSON");
    let keys: Vec<&String> = report.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["build", "file-system", "measurements", "place", "size", "version"]);
    for key in ["measurement", "figure", "unit", "goal", "verdict", "note"] {
        assert!(!report["measurements"][0][key].is_null(), "{key} in {report}");
    }
}

#[test]
fn the_gauntlet_lists_its_cases_and_refuses_unknown_ones() {
    let place = Place::new();
    let kept = place.folder_of_test().display().to_string();
    let lines: &[&[&str]] = &[
        &["gauntlet", "--list"],
        &["gauntlet", "--list", "shell", "honest"],
        &["gauntlet", "shel"],
        &["gauntlet", "honest", "--keep", &kept],
    ];
    insta::assert_snapshot!("gauntlet", place.transcript(lines));
}

#[test]
fn internal_commands_explain_that_they_are_not_for_users() {
    let place = Place::new();
    let script = place.write_outside("empty.yaml", "rehearsal: 1\nabout: Nobody.\ndispatches: []\n");
    let lines: &[&[&str]] = &[
        &["rehearse", "--script", &script],
        &["rehearse", "--script", "none.yaml"],
        &["confine", "--policy", "none.json", "--", "true"],
    ];
    insta::assert_snapshot!("engine", place.transcript(lines));
}
