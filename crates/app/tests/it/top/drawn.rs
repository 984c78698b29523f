//! What the terminal view draws of real runs, at several widths.

use super::screen::waiting;
use crate::page::views::corrected;
use crate::place::{Place, shown};
use crate::rehearsed::{REQUEST, Script};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use remand_engine::clock;
use remand_engine::redact::{RedactionRules, Redactor};
use remand_ledger::Millis;
use remand_terminal::Ink;
use remand_top::{Key, TopView};
use remand_views::{RunList, RunSite};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

const HOUR: i64 = 3_600_000;

/// Gives everything in a ledger times that do not depend on this machine: it all began 90 minutes ago.
const RETIME: &str = r#"
import sqlite3, sys
ledger, base = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
for number, (run,) in enumerate(ledger.execute("SELECT run FROM runs ORDER BY rowid").fetchall()):
    start = base + number * 1000
    ledger.execute("UPDATE runs SET created_at = ?, updated_at = ?, time = 65000 WHERE run = ?", (start, start + 1200000, run))
    ledger.execute("UPDATE gates SET opened_at = ? WHERE run = ?", (start + 600000, run))
    ledger.execute("UPDATE gates SET answered_at = ? WHERE run = ? AND answered_at IS NOT NULL", (start + 700000, run))
    rows = ledger.execute("SELECT commands.rowid FROM commands JOIN events ON events.id = commands.rowid >> 16 WHERE events.run = ? ORDER BY 1", (run,)).fetchall()
    for at, (row,) in enumerate(rows):
        begun = start + at * 60000
        ledger.execute("UPDATE commands SET started_at = ?, time = 30000 WHERE rowid = ?", (begun, row))
        ledger.execute("UPDATE commands SET completed_at = ? WHERE rowid = ? AND completed_at IS NOT NULL", (begun + 30000, row))
ledger.commit()
"#;

/// A run that was corrected once, and one that waits at a gate.
struct Scene {
    place: Place,
    base: i64,
}

impl Scene {
    fn new() -> Scene {
        let place = corrected();
        let script = Script::subtraction().text();
        let shown = place.run(REQUEST, &script, &["--workflow", "feature", "--interactive"]);
        assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
        Scene::of(place)
    }

    fn of(place: Place) -> Scene {
        let base = clock::now().0 - HOUR * 3 / 2;
        let mut python = Command::new("python3");
        python.args(["-c", RETIME]).arg(place.home().join("ledger.db")).arg(base.to_string());
        let done = shown(python);
        assert_eq!(done.code, 0, "{}", done.err);
        Scene { place, base }
    }

    fn site(&self) -> RunSite {
        let redactor = Redactor::new(BTreeMap::new(), &RedactionRules::default()).expect("no patterns");
        RunSite { state: self.place.state(), door: None, redactor: Box::new(move |_| redactor.clone()) }
    }

    /// What the view shows after these keys, on a screen of this size, without what differs between two tests.
    fn drawn(&self, keys: &[Key], columns: u16, rows: u16) -> String {
        let site = self.site();
        let mut view = TopView::new(&site, Ink::Plain).expect("readable");
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a screen");
        let mut draw = |view: &mut TopView<'_>| {
            let now = Millis(self.base + HOUR * 3 / 2);
            terminal.draw(|frame| view.draw(frame, now)).expect("drawn");
        };
        draw(&mut view);
        for key in keys {
            view.press(*key, Instant::now());
            draw(&mut view);
        }
        let text = terminal.backend().to_string();
        let id = regex::Regex::new(r"\d{8}-\d{6}-[0-9a-z]+").expect("a pattern");
        id.replace_all(&text, |found: &regex::Captures<'_>| "I".repeat(found[0].len())).into_owned()
    }
}

// BY-11
#[test]
fn the_list_shows_what_needs_the_user_first_at_every_width() {
    let scene = Scene::new();
    for columns in [40, 60, 80, 120] {
        insta::assert_snapshot!(format!("list_{columns}"), scene.drawn(&[], columns, 14));
    }
    let search = [Key::Char('/'), Key::Char('q'), Key::Char('u'), Key::Char('i')];
    insta::assert_snapshot!("list_searched", scene.drawn(&search, 60, 10));
}

// BY-11
#[test]
fn a_run_shows_where_it_is_and_what_went_back_at_every_width() {
    let scene = Scene::new();
    let open = [Key::Down, Key::Enter];
    for columns in [40, 60, 80, 120] {
        insta::assert_snapshot!(format!("run_{columns}"), scene.drawn(&open, columns, 24));
    }
    for (panel, name) in [('2', "events"), ('3', "findings"), ('4', "lanes"), ('5', "agent")] {
        let keys = [&open[..], &[Key::Char(panel)]].concat();
        insta::assert_snapshot!(format!("run_{name}_60"), scene.drawn(&keys, 60, 24));
    }
    insta::assert_snapshot!(
        "run_findings_120",
        scene.drawn(&[&open[..], &[Key::Char('3')]].concat(), 120, 24)
    );
}

// BY-11
#[test]
fn a_gate_shows_its_options_and_takes_a_note() {
    let scene = Scene::of(waiting());
    let open = [Key::Enter];
    insta::assert_snapshot!("gate_60", scene.drawn(&open, 60, 30));
    insta::assert_snapshot!("gate_200", scene.drawn(&open, 200, 24));
    let note = [Key::Char('a'), Key::Down, Key::Enter, Key::Char('h'), Key::Char('i')];
    insta::assert_snapshot!("gate_answered_60", scene.drawn(&[&open[..], &note].concat(), 60, 30));
}

// BY-11
#[test]
fn rows_keep_their_places_under_somebody_who_moves_and_the_selected_run_stays_selected() {
    let scene = Scene::new();
    let site = scene.site();
    let mut view = TopView::new(&site, Ink::Plain).expect("readable");
    let now = Instant::now();
    view.press(Key::Down, now);
    let titles = |view: &mut TopView<'_>| {
        let mut terminal = Terminal::new(TestBackend::new(80, 30)).expect("a screen");
        terminal.draw(|frame| view.draw(frame, Millis(scene.base))).expect("drawn");
        let text = terminal.backend().to_string();
        let rows = text.lines().filter(|line| {
            line.contains("  waiting") || line.contains("  committed") || line.contains("  stopped")
        });
        rows.map(|line| line.trim_matches('"').trim().to_string()).collect::<Vec<_>>()
    };
    let before = titles(&mut view);
    assert_eq!(before.len(), 2, "{before:?}");
    let waiting = RunList::read(&site).expect("runs").runs;
    let waiting = waiting.iter().find(|run| !run.gates.is_empty()).expect("a gate").row.run.0.clone();
    let cancelled = scene.place.remand(&["cancel", &waiting]);
    assert_eq!(cancelled.code, 0, "{}{}", cancelled.out, cancelled.err);
    view.update(now);
    let after = titles(&mut view);
    assert!(after[0].ends_with("stopped") && before[0].ends_with("waiting"), "{before:?} {after:?}");
    assert!(after[1].starts_with('▸') && before[1] == after[1], "{before:?} {after:?}");
    // Nobody moves any more: what needs the user comes first again, and the selection follows its run.
    view.update(now + std::time::Duration::from_secs(11));
    assert!(titles(&mut view).iter().any(|row| *row == before[1]));
}
