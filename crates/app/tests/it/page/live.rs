//! The page follows runs that other processes drive, and answers their gates.

use super::browser::Browser;
use super::served::Served;
use crate::cancel::wait_until;
use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL, role};
use crate::terminal::TerminalRun;
use remand_ledger::query::RunStage;
use serde_json::json;

const LIVE: &str = "document.getElementById('stream').dataset.is === 'live'";

// BY-11 EP-12
#[test]
fn a_gate_of_a_live_run_is_answered_on_the_page_and_every_window_sees_it() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait_for("No runs yet");
    window.wait(LIVE);

    let mut driver =
        TerminalRun::run(&place, &Script::subtraction(), &["--workflow", "feature", "--interactive"]);
    window.wait_for("Is this the right direction?");
    assert!(window.text("#needs").contains("waiting"), "{}", window.text("#needs"));
    assert!(window.call("title", json!([])).as_str().expect("a title").starts_with("(1)"));
    window.click("a.title");
    window.wait("document.querySelector('.gate.open button') !== null");
    window.wait("document.querySelector('.drawing .badge.now') !== null");
    assert_eq!(browser.errors(), [] as [&str; 0]);
    assert_eq!(window.axe(), [] as [&str; 0]);
    window.picture("gate");

    // What somebody types stays when the page is read again.
    let other = window.another();
    other.goto(window.call("url", json!([])).as_str().expect("an address"));
    other.wait(LIVE);
    other.call("fill", json!([".gate textarea", "half a th"]));
    window.call("fill", json!([".gate textarea", "look at <b>zero</b> too"]));
    window.click(".gate button[value=expand]");
    driver.wait_for("from another process");
    let gates = || place.reader().gates(&place.latest().run).expect("gates");
    wait_until("the second question is asked", || gates().len() == 2);
    let gates = gates();
    // Both questions have the same options, so each window must show the second one first.
    let second =
        format!("document.querySelector('.gate.open[id=\"gate-{}\"] button') !== null", gates[1].command);
    window.wait(&format!("{second} && !document.querySelector('.gate .given')"));
    let answered = &gates[0];
    assert_eq!(answered.option.as_deref(), Some("expand"));
    assert_eq!(answered.by.as_deref(), Some("ada on the page"));
    assert_eq!(answered.note.as_deref(), Some("look at <b>zero</b> too"));

    // The second question is open in both windows; the answer of one closes it in the other.
    other.wait(&second);
    other.click(".gate.open button[value=abort]");
    assert_eq!(driver.code(), 4, "{}", driver.screen());
    for window in [&window, &other] {
        window.wait("document.querySelector('.stage.stopped') !== null");
        window.wait("document.querySelector('.gate.open') === null");
    }
    assert_eq!(place.latest().stage, RunStage::Stopped);
    window.goto(&served.address(&format!("{}/rulings", path_of(&place))));
    let rulings = window.text(".rulings");
    assert!(rulings.contains("ada on the page decided: look at <b>zero</b> too"), "{rulings}");
}

/// The path of the page of the latest run.
pub fn path_of(place: &Place) -> String {
    let repository = place.home().file_name().expect("a name").to_string_lossy().into_owned();
    format!("/r/{repository}/{}", place.latest().run)
}

// BY-11
#[test]
fn a_lost_stream_says_so_and_mends_itself() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait(LIVE);

    window.set_offline(true);
    window.wait("document.getElementById('stream').dataset.is === 'lost'");
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(window.text("main").contains("No runs yet"), "nothing arrives while it is cut");
    window.set_offline(false);
    window.wait(LIVE);
    window.wait("document.querySelector('.stage.committed') !== null");

    // A server that was started again does not know the window.
    let port = served.port;
    served.stop();
    window.wait("document.getElementById('stream').dataset.is === 'lost'");
    let again = Served::at(&place, port, &[]);
    window.wait_for("This window is not signed in.");
    window.goto(&again.link);
    window.wait("document.querySelector('.stage.committed') !== null");
}

// BY-11
#[test]
fn a_run_whose_process_died_is_shown_as_interrupted_without_any_event() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let served = Served::start(&place, &[]);
    let script = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let waiting = "sleep 600";
    let agent = format!("rehearsal:{script}");
    place.write("remand.toml", &format!("{TRIVIAL}\n[checks.wait]\ncommand = \"{waiting}\"\n"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A check that waits"]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    let mut driver = place.start(&["run", "Add subtraction", "--agent", &agent]);
    window.wait("document.querySelector('#running .stage.running') !== null");
    window.click("a.title");
    window.wait("document.querySelector('.now .pulse') !== null");
    driver.kill().expect("killed");
    driver.wait().expect("an end");
    window.wait("document.querySelector('.stage.interrupted') !== null");
    assert!(window.text("main").contains("No process drives this run."), "{}", window.text("main"));
}

// BY-11
#[test]
fn a_transcript_grows_while_the_agent_works_and_shows_no_secret() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let served = Served::start(&place, &[]);
    let secret = &format!("ghp_{}", "a1B2".repeat(9));
    let go = place.visible_file("go").display().to_string();
    let working = role("implementer")
        .does(json!({ "print": "I look around <b>here</b>" }))
        .runs(&format!(
            "until [ -e {go} ]; do sleep 0.05; done; printf 'I found gh%s there\\n' {}",
            &secret[2..]
        ))
        .does(json!({ "hang": true }));
    let file = place.write_outside("rehearsal.yaml", &Script::quick().with(working).text());
    let agent = format!("rehearsal:{file}");
    let driver = place.start(&["run", "Add subtraction", "--workflow", "quick", "--agent", &agent]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait("document.querySelector('.stage.running') !== null");
    window.goto(&served.address(&format!("{}/agents", path_of(&place))));
    window.wait("document.querySelector('td.row a') !== null");
    window.click("td.row a");
    window.wait_for("I look around <b>here</b>");
    std::fs::write(&go, "").expect("the file");
    window.wait_for("there");
    assert!(!window.text("main").contains(secret), "{}", window.text("main"));
    assert_eq!(place.remand(&["cancel", "latest"]).code, 0);
    window.wait("document.querySelector('.stage.stopped') !== null");
    driver.wait_with_output().expect("the run ends");
    assert_eq!(browser.errors(), [] as [&str; 0]);
}
