//! Many runs, and a run with very many events.

use super::browser::Browser;
use super::live::path_of;
use super::served::Served;
use crate::place::Place;
use crate::rehearsed::{SUB, Script, TEST_SUB, TRIVIAL, implemented, review, role};
use remand_engine::pinned::Pinned;
use remand_kernel::{Event, Program, State, step};
use remand_ledger::query::JournalRow;
use remand_ledger::{Facts, JournalEntry, Ledger, Millis, RunId};
use serde_json::json;

/// What runs are made from: the beginning of a real one.
struct Beginning {
    program: Program,
    first: JournalRow,
}

impl Beginning {
    fn of(place: &Place) -> Beginning {
        let shown = place.quick(&Script::quick(), &[]);
        assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
        let (reader, run) = (place.reader(), place.latest().run);
        let pinned = Pinned::of(&reader, &run).expect("a query").expect("readable");
        Beginning { program: pinned.program, first: reader.journal(&run, 0).expect("the journal").remove(0) }
    }

    /// Starts another such run and appends these events.
    fn append(&self, ledger: &mut Ledger, name: &str, events: &[Event]) {
        let (run, mut state) = (RunId(name.to_string()), State::new(&self.program));
        let none = Facts::default();
        let all = std::iter::once(&self.first.event).chain(events);
        let stepped: Vec<_> =
            all.map(|event| (event, step(&self.program, &mut state, event).expect("legal"))).collect();
        let entries: Vec<JournalEntry<'_>> = stepped
            .iter()
            .enumerate()
            .map(|(at, (event, step))| JournalEntry {
                run: &run,
                at: Millis(self.first.at.0 + i64::try_from(at).expect("few")),
                event,
                facts: if at == 0 { &self.first.facts } else { &none },
                step,
                blobs: &[],
                request: None,
            })
            .collect();
        for part in entries.chunks(500) {
            ledger.append(part).expect("appended");
        }
    }
}

// BY-11
#[test]
fn a_thousand_runs_are_listed_in_parts_and_searched() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let beginning = Beginning::of(&place);
    let mut ledger = place.ledger();
    let cancel = [Event::Cancelled { by: "ada".to_string() }];
    for number in 0..1_000 {
        beginning.append(&mut ledger, &format!("20260101-000000-x{number:04}"), &cancel);
    }
    ledger.catch_up().expect("caught up");
    drop(ledger);
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait("document.querySelectorAll('li.run').length >= 200");
    assert_eq!(window.evaluate("document.querySelectorAll('li.run').length"), 200);
    assert!(window.text("nav.parts").contains("1–200 of 1,001"), "{}", window.text("nav.parts"));
    window.click("nav.parts a[rel=next]");
    window.wait("document.querySelector('nav.parts').innerText.includes('201–400')");
    window.call("goBack", json!([]));
    window.wait("document.querySelector('nav.parts').innerText.includes('1–200')");
    window.call("fill", json!(["#q", "x0777"]));
    window.wait("document.querySelectorAll('li.run').length === 1");
    assert!(window.text("li.run").contains("20260101-000000-x0777"));
    assert!(window.call("url", json!([])).as_str().expect("an address").ends_with("/?q=x0777"));
    assert_eq!(browser.errors(), [] as [&str; 0]);
}

/// A place with a run of 20,001 events.
pub fn long_run() -> Place {
    let place = Place::configured(TRIVIAL);
    let beginning = Beginning::of(&place);
    let mut ledger = place.ledger();
    let by = || "ada".to_string();
    let turns: Vec<Event> =
        (0..10_000).flat_map(|_| [Event::Paused { by: by() }, Event::Resumed { by: by() }]).collect();
    beginning.append(&mut ledger, "20260101-000000-long", &turns);
    ledger.catch_up().expect("caught up");
    drop(ledger);
    assert_eq!(place.latest().seq, 20_001);
    place
}

// BY-11
#[test]
fn a_run_of_twenty_thousand_events_is_shown_in_parts_and_replayed_to_any_of_them() {
    let Some(browser) = Browser::start() else { return };
    let place = long_run();
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait("document.querySelector('li.run') !== null");
    let path = path_of(&place);
    assert_eq!(window.goto(&served.address(&format!("{path}/rulings"))), 200);
    assert!(window.text("nav.parts").contains("1–200 of 20,000"), "{}", window.text("nav.parts"));
    assert_eq!(window.evaluate("document.querySelectorAll('.ruling').length"), 200);
    window.click("nav.parts a:last-child");
    window.wait("document.querySelector('.ruling:last-child .seq').textContent === '2'");
    // Every event has an address, and the slider leads to it. The script has run when the stream is there.
    window.wait("document.getElementById('stream').dataset.is === 'live'");
    window.evaluate(
        "{ const slider = document.getElementById('at'); slider.value = 12345; \
         slider.dispatchEvent(new Event('input', { bubbles: true })); }",
    );
    window.wait("document.querySelector('.stage.past') !== null");
    let address = window.call("url", json!([])).as_str().expect("an address").to_string();
    assert!(address.ends_with("/rulings?at=12345"), "{address}");
    assert!(window.text(".replay").contains("12,345"), "{}", window.text(".replay"));
    assert!(window.text("nav.parts").contains("of 12,344"), "{}", window.text("nav.parts"));
    window.click(".replay a");
    window.wait("document.querySelector('.stage.past') === null");
    for view in ["", "/timeline", "/findings", "/evidence", "/artifacts", "/agents", "/costs", "/workflow"] {
        assert_eq!(window.goto(&served.address(&format!("{path}{view}"))), 200, "{view}");
    }
    assert_eq!(browser.errors(), [] as [&str; 0]);
}

// BY-11
#[test]
fn a_change_of_five_megabytes_is_read_in_parts() {
    let Some(browser) = Browser::start() else { return };
    let place = Place::configured(TRIVIAL);
    let script = Script::of([
        role("implementer")
            .writes("sums/sub.py", SUB)
            .writes("tests/test_sub.py", TEST_SUB)
            .runs("seq 1000000 1700000 >sums/numbers.txt")
            .says(implemented("")),
        role("reviewer").says(review("code", "general", "approve", &[])),
    ]);
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait("document.querySelector('li.run') !== null");
    window.goto(&served.address(&format!("{}/changes", path_of(&place))));
    let files = window.text("main");
    assert!(files.contains("sums/numbers.txt +700001"), "{files}");
    window.click("summary:has-text('numbers.txt')");
    window.wait("document.querySelectorAll('.diff ins').length > 900");
    assert!(window.evaluate("document.querySelectorAll('.diff > *').length").as_u64() <= Some(1_000));
    window.click("summary:has-text('more lines')");
    window.wait("document.querySelectorAll('.diff ins').length > 1900");
    assert_eq!(browser.errors(), [] as [&str; 0]);
}
