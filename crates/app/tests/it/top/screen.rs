//! The terminal view at a real terminal: it follows runs, takes answers, and leaves the terminal as it was.

use super::tmux::Tmux;
use crate::cancel::wait_until;
use crate::page::served::Served;
use crate::place::Place;
use crate::rehearsed::{REQUEST, Script, TRIVIAL};
use remand_ledger::query::RunStage;
use remand_top::TerminalScreen;
use std::process::Command;

/// A run that waits at its first gate, which nothing drives.
pub fn waiting() -> Place {
    let place = Place::configured(TRIVIAL);
    let shown =
        place.run(REQUEST, &Script::subtraction().text(), &["--workflow", "feature", "--interactive"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    place
}

// BY-11 EP-12
#[test]
fn a_gate_is_answered_in_the_terminal_view_and_the_run_continues() {
    let Some(tmux) = Tmux::start(80, 30) else { return };
    let place = waiting();
    tmux.run(&place.command(&["top"]));
    let list = tmux.wait_for("Needs you");
    assert!(list.contains("1 run needs you") && list.contains(REQUEST), "{list}");
    tmux.press(&["Enter"]);
    tmux.wait_for("a answers: ");
    tmux.press(&["a"]);
    let form = tmux.wait_for("note:");
    let abort = form.lines().find(|line| line.contains(" abort ")).expect("the option");
    let number = abort.trim_start_matches(['▸', ' ']).split(' ').next().expect("its number");
    tmux.types(number);
    tmux.wait("abort is chosen", |screen| {
        screen.lines().any(|line| line.starts_with("▸") && line.contains(" abort "))
    });
    tmux.press(&["Enter"]);
    tmux.types("not \u{7} this way");
    tmux.wait_for("note: not  this way");
    tmux.press(&["Enter"]);
    tmux.wait_for("abort is recorded.");
    tmux.wait_for("An answer is recorded; r continues the run.");
    tmux.press(&["r"]);
    tmux.wait_for("stopped");
    wait_until("the run is over", || place.latest().stage == RunStage::Stopped);
    let gates = place.reader().gates(&place.latest().run).expect("gates");
    assert_eq!(gates[0].option.as_deref(), Some("abort"));
    assert_eq!(gates[0].by.as_deref(), Some("ada in the terminal view"));
    assert_eq!(gates[0].note.as_deref(), Some("not  this way"));
    tmux.press(&["q", "q"]);
    tmux.wait("the view is gone", |screen| !screen.contains("↩ remand"));
}

// BY-11
#[test]
fn a_run_that_nothing_drives_is_cancelled_from_the_terminal_view_after_a_question() {
    let Some(tmux) = Tmux::start(60, 24) else { return };
    let place = waiting();
    tmux.run(&place.command(&["top", "latest"]));
    tmux.wait_for("a answers: ");
    tmux.press(&["c"]);
    tmux.wait_for("Cancel this run?");
    tmux.press(&["n"]);
    tmux.wait("the question is gone", |screen| !screen.contains("Cancel this run?"));
    tmux.press(&["c"]);
    tmux.wait_for("Cancel this run?");
    tmux.press(&["y"]);
    wait_until("the run is over", || place.latest().stage == RunStage::Stopped);
    tmux.wait_for("stopped");
    let reader = place.reader();
    let rulings = reader.rulings(&place.latest().run, 0).expect("rulings");
    let why = &rulings.last().expect("a ruling").ruling.why;
    assert!(why.contains("ada in the terminal view"), "{why}");
}

// BY-11
#[test]
fn a_view_that_only_shows_takes_no_answer() {
    let Some(tmux) = Tmux::start(80, 30) else { return };
    let place = waiting();
    tmux.run(&place.command(&["top", "--read-only", "latest"]));
    tmux.wait_for("a answers: ");
    tmux.press(&["c", "y"]);
    tmux.wait_for("This view only shows");
    assert_eq!(place.reader().requests(&place.latest().run).expect("requests"), []);
}

// BY-11
#[test]
fn the_change_is_shown_in_the_pager_and_the_page_in_the_browser() {
    let Some(tmux) = Tmux::start(80, 24) else { return };
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let served = Served::start(&place, &[]);
    let (paged, opened) = (place.visible_file("paged"), place.visible_file("opened"));
    let browser = format!("#!/bin/sh\nprintf %s \"$1\" >'{}'\n", opened.display());
    let mut command = place.command(&["top", "latest"]);
    command.env("GIT_PAGER", format!("tee '{}' | tail -n 1; read line </dev/tty", paged.display()));
    command.env("BROWSER", place.write_program("browse", &browser));
    tmux.run(&command);
    tmux.wait_for("d diff");
    tmux.press(&["d"]);
    // The pager has the terminal: its own screen, and keys that end with Enter.
    tmux.wait_for("self.assertEqual(sub(3, 2), 1)");
    assert_eq!(tmux.about("alternate_on"), "0");
    tmux.press(&["Enter"]);
    tmux.wait_for("d diff");
    assert_eq!(tmux.about("alternate_on"), "1");
    let change = std::fs::read_to_string(&paged).expect("the pager had the change");
    assert!(change.contains("+def sub(a, b):"), "{change}");
    tmux.press(&["o"]);
    tmux.wait_for("the page of the run opens in your browser");
    wait_until("the browser has a link", || opened.exists());
    let link = std::fs::read_to_string(&opened).expect("a link");
    assert!(link.starts_with(&served.address("/login?key=")), "{link}");
    assert!(link.ends_with(&place.latest().run.0), "{link}");
}

/// The terminal as the shell had it before, whatever ended the view.
#[track_caller]
fn is_as_before(tmux: &Tmux, settings: &str, why: &str) {
    assert_eq!(tmux.settings(), settings, "{why}");
    assert_eq!([tmux.about("alternate_on"), tmux.about("cursor_flag")], ["0", "1"], "{why}");
}

/// What ends or pauses the view.
#[derive(Debug)]
enum Ending {
    Key(&'static str),
    Signal(&'static str),
}

impl Ending {
    fn happen(&self, tmux: &Tmux) {
        match self {
            Ending::Key(key) => tmux.press(&[key]),
            Ending::Signal(name) => signal(tmux, name),
        }
    }
}

// BY-11
#[test]
fn the_terminal_is_as_it_was_after_keys_signals_and_a_pause() {
    let Some(tmux) = Tmux::start(60, 20) else { return };
    let place = Place::configured(TRIVIAL);
    let before = tmux.settings();
    for end in [
        Ending::Key("q"),
        Ending::Key("C-c"),
        Ending::Signal("TERM"),
        Ending::Signal("INT"),
        Ending::Signal("HUP"),
    ] {
        let why = format!("{end:?}");
        tmux.run(&place.command(&["top"]));
        tmux.wait_for("No runs yet");
        assert_eq!([tmux.about("alternate_on"), tmux.about("cursor_flag")], ["1", "0"], "{why}");
        end.happen(&tmux);
        tmux.wait("the shell is back", |screen| !screen.contains("No runs yet"));
        is_as_before(&tmux, &before, &why);
    }
    tmux.types("set -m");
    tmux.press(&["Enter"]);
    for pause in [Ending::Key("C-z"), Ending::Signal("TSTP")] {
        let why = format!("{pause:?}");
        tmux.run(&place.command(&["top"]));
        tmux.wait_for("No runs yet");
        pause.happen(&tmux);
        tmux.wait("the shell is back", |screen| !screen.contains("No runs yet"));
        is_as_before(&tmux, &before, &why);
        tmux.types("fg");
        tmux.press(&["Enter"]);
        tmux.wait_for("No runs yet");
        tmux.press(&["q"]);
        tmux.wait("the shell is back", |screen| !screen.contains("No runs yet"));
        is_as_before(&tmux, &before, &why);
    }
}

/// Sends a signal to the program in the foreground.
fn signal(tmux: &Tmux, name: &str) {
    let shell = tmux.about("pane_pid");
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).expect("children");
    let child = children.split(' ').next().expect("the view");
    let sent = Command::new("kill").args([&format!("-{name}"), child]).status();
    assert!(sent.expect("kill runs").success());
}

/// Set for the process of this test that panics.
const PANICS: &str = "REMAND_TEST_PANICS";

// BY-11
#[test]
fn a_panic_leaves_a_sane_terminal_and_its_report() {
    if std::env::var_os(PANICS).is_some() {
        let _screen = TerminalScreen::open().expect("a terminal");
        panic!("planted");
    }
    let Some(tmux) = Tmux::start(100, 20) else { return };
    let before = tmux.settings();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let name = "top::screen::a_panic_leaves_a_sane_terminal_and_its_report";
    command.args(["--exact", name, "--nocapture"]).env(PANICS, "1").env("TERM", "screen-256color");
    tmux.run(&command);
    tmux.wait_for("planted");
    is_as_before(&tmux, &before, "a panic");
    let out = tmux.screen();
    assert!(out.contains("planted"), "the report is on the screen of the shell:\n{out}");
}
