//! Tests that are red before any change: unrelated ones may stay red, wanted ones must pass.

use crate::place::Place;
use crate::rehearsed::{Script, implemented, role};
use remand_ledger::fact::NoteKind;

const CLOCK: &str = "def hour(text):\n    return int(text)\n";
const TEST_CLOCK: &str = "import unittest\n\nfrom sums.clock import hour\n\n\nclass ClockTest(unittest.TestCase):\n    \
                          def test_noon_is_twelve(self):\n        self.assertEqual(hour(\"noon\"), 12)\n";

/// The project with a red test about clocks.
fn place() -> Place {
    let place = Place::new();
    place.write("sums/clock.py", CLOCK);
    place.write("tests/test_clock.py", TEST_CLOCK);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A red test"]);
    place
}

// UP-05
#[test]
fn an_unrelated_red_test_stays_red_and_the_work_is_committed_with_high_confidence() {
    let place = place();
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!((run.confidence.as_str(), run.used.dispatches), ("high", 2));
    let notes = place.reader().notes(&run.run).expect("notes");
    let note = notes.iter().find(|note| note.text.contains("may stay red")).expect("a note");
    assert!(note.kind == NoteKind::Warning && note.text.contains("test_noon_is_twelve"), "{note:?}");
    assert!(place.remand(&["evidence"]).out.contains("may stay red"));
}

// UP-05
#[test]
fn work_that_leaves_the_wanted_red_test_red_is_never_committed() {
    let requests = [
        "Make test_noon_is_twelve pass.",
        "See tests/test_clock.py.",
        "`hour` must understand words.",
        "The word noon is twelve.",
        "Fix the failing test.",
    ];
    for request in requests {
        let place = place();
        let round = |number: u32| {
            let path = format!("sums/other{number}.py");
            let code = format!("def other{number}():\n    return {number}\n");
            role("implementer").round(number).writes(&path, &code).says(implemented(""))
        };
        let script = Script::quick().with(round(1)).with(round(2)).with(round(3));
        let shown = place.run(request, &script.text(), &["--workflow", "quick"]);
        assert!([4, 6].contains(&shown.code), "{request}: {}{}", shown.out, shown.err);
        let run = place.latest();
        let dispatches = place.reader().dispatches(&run.run).expect("dispatches");
        assert!(dispatches.iter().all(|row| row.role == "implementer"), "{request}: {dispatches:?}");
    }
}
