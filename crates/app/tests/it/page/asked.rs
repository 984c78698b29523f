//! What a person asks of a run on the page: to cancel it, to continue it, to grant more; and to open the page.

use super::browser::Browser;
use super::live::path_of;
use super::served::Served;
use super::views::corrected;
use crate::cancel::wait_until;
use crate::place::{Place, shown};
use crate::rehearsed::{REQUEST, Script, TRIVIAL};
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_ledger::query::RunStage;
use serde_json::json;
use std::fs;

/// The page of the latest run, in a new window.
fn opened<'b>(browser: &'b Browser, place: &Place, served: &Served) -> super::browser::Window<'b> {
    let window = browser.profile(json!({}));
    window.goto(&served.next_link(place));
    window.wait("document.querySelector('li.run') !== null");
    window.goto(&served.address(&path_of(place)));
    window
}

// BY-11 EP-12
#[test]
fn an_amount_is_granted_on_the_page_and_the_run_is_continued_there() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let served = Served::start(&place, &[]);
    let window = opened(&browser, &place, &served);
    assert!(!window.text("main").contains("Continue the run"), "nothing to continue before an answer");
    window.call("fill", json!([".gate input[name=grant]", "soon"]));
    window.click(".gate button[value=go-on]");
    window.wait("document.querySelector('.gate .outcome.bad') !== null");
    assert_eq!(place.reader().all_requests().expect("requests"), []);
    assert_eq!(browser.errors().len(), 1, "the browser reports the refusal");
    window.call("fill", json!([".gate input[name=grant]", "7"]));
    window.click(".gate button[value=go-on]");
    window.wait("document.querySelector('.gate .given') !== null");
    let requests = place.reader().all_requests().expect("requests");
    assert!(matches!(requests[0].event, Event::Answered { grants: Grants::Amount(7), .. }), "{requests:?}");
    assert_eq!(window.axe(), [] as [&str; 0]);
    window.picture("continue");
    window.click(".controls button.main");
    window.wait("document.querySelector('.stage.committed') !== null");
    assert_eq!(place.latest().stage, RunStage::Committed);
    assert_eq!(window.evaluate("document.querySelector('.controls') === null"), true);
    assert_eq!(browser.errors(), [] as [&str; 0]);
}

// BY-11 EP-12
#[test]
fn a_run_that_nothing_drives_is_cancelled_on_the_page() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let shown = place.feature(&Script::subtraction(), &["--interactive"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let served = Served::start(&place, &[]);
    let window = opened(&browser, &place, &served);
    window.click(".controls summary");
    window.picture("cancel");
    window.click(".controls button.stop");
    window.wait("document.querySelector('.stage.stopped') !== null");
    assert_eq!(place.latest().stage, RunStage::Stopped);
    let rulings = place.reader().rulings(&place.latest().run, 0).expect("rulings");
    let why = &rulings.last().expect("a ruling").ruling.why;
    assert!(why.contains("ada on the page"), "{why}");
}

// BY-11
#[test]
fn costs_and_changes_are_shown_as_they_were_after_an_event() {
    let Some(browser) = Browser::start() else { return };
    let place = corrected();
    let served = Served::start(&place, &[]);
    let window = opened(&browser, &place, &served);
    let rulings = place.reader().rulings(&place.latest().run, 0).expect("rulings");
    let after = |phase: &str| rulings.iter().find(|row| row.ruling.phase == phase).expect("a ruling").seq;
    let at = |view: &str, seq: u64| {
        window.goto(&served.address(&format!("{}/{view}?at={seq}", path_of(&place))));
        window.text("main")
    };
    let (before, implemented, reviewed) = (after("baseline"), after("verify"), after("review"));
    assert!(at("changes", before).contains("Nothing is changed."), "{}", at("changes", before));
    assert!(at("changes", implemented).contains("sums/sub.py +2 −0"), "{}", at("changes", implemented));
    window.click("summary:has-text('sums/sub.py')");
    window.wait("document.querySelectorAll('.diff ins').length === 2");
    let now = {
        window.goto(&served.address(&format!("{}/changes", path_of(&place))));
        window.text("main")
    };
    assert!(now.contains("sums/sub.py +3 −0"), "{now}");
    let total = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("cost")).expect("a line").to_string();
        line.split_whitespace().nth(1).expect("a figure").to_string()
    };
    let rows = |seq: u64| {
        window.goto(&served.address(&format!("{}/costs?at={seq}", path_of(&place))));
        total(&window.text("section.panel table"))
    };
    assert_eq!([rows(before), rows(reviewed)], ["$0.00", "$0.02"]);
    assert_eq!(browser.errors(), [] as [&str; 0]);
}

// BY-11
#[test]
fn run_opens_its_page_in_the_browser_and_starts_a_server_if_none_runs() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let log = place.visible_file("opened");
    let program = place.write_program(
        "browse",
        &format!("#!/bin/sh\nprintf %s \"$1\" >'{0}.new' && mv '{0}.new' '{0}'\n", log.display()),
    );
    let script = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let run = || {
        let mut command = place.command(&["run", REQUEST, "--open", "--agent", &agent]);
        command.env("BROWSER", &program);
        let done = shown(command);
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        wait_until("the browser has the link", || log.exists());
        let link = fs::read_to_string(&log).expect("a link");
        fs::remove_file(&log).expect("removed");
        link
    };
    let first = run();
    let window = browser.profile(json!({}));
    window.goto(&first);
    window.wait("document.querySelector('.stage.committed') !== null");
    let path = window.call("url", json!([]));
    assert!(path.as_str().expect("an address").ends_with(&path_of(&place)), "{path}");
    // The next run uses the same server.
    let port = |link: &str| link.split('/').nth(2).expect("a host").to_string();
    assert_eq!(port(&run()), port(&first));
    end_server(&place);
}

/// Ends the server that `run` has started; it would end by itself, but later.
fn end_server(place: &Place) {
    let state = place.state().display().to_string();
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        if words.contains(&state) && words.split('\0').any(|word| word == "serve") {
            let id = entry.file_name().into_string().expect("a number");
            let _ = std::process::Command::new("kill").arg(id).status();
        }
    }
}

// BY-11
#[test]
fn a_server_that_nobody_looks_at_ends() {
    let place = Place::configured(TRIVIAL);
    let done = place.remand(&["serve", "--port", "0", "--idle", "1s"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(done.out.starts_with("http://127.0.0.1:"), "{}", done.out);
}
