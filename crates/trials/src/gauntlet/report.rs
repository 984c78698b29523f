//! The results of all cases: a table, a line for each family, and whether everything is as stated.

use super::family::Family;
use super::outcome::CaseVerdict;
use super::runners::LeftOutCases;
use super::trial::TrialResult;
use remand_terminal::amount::time;
use remand_terminal::table::{Cell, ColumnFit, TextTable, indented};
use remand_terminal::{Ink, Tone};
use serde_json::{Value, json};
use std::time::Duration;

/// The results of a gauntlet.
#[derive(Debug)]
pub struct GauntletReport {
    pub tried: Vec<TrialResult>,
    pub left_out: Vec<LeftOutCases>,
    pub took: Duration,
}

impl GauntletReport {
    pub fn is_as_stated(&self) -> bool {
        self.tried.iter().all(|tried| tried.verdict == CaseVerdict::AsStated)
    }

    /// The table, the families and the failures, for people.
    pub fn text(&self, ink: Ink) -> String {
        let mut table = TextTable::new(&[
            ("family", ColumnFit::Whole),
            ("case", ColumnFit::Whole),
            ("what it tries", ColumnFit::Wrap),
            ("what happened", ColumnFit::Wrap),
            ("verdict", ColumnFit::Wrap),
            ("time", ColumnFit::Whole),
        ]);
        for tried in &self.tried {
            table.row(vec![
                Cell::new(tried.choice.family().name()),
                Cell::new(tried.choice.short()),
                Cell::new(&tried.choice.case.title),
                Cell::new(&tried.happened),
                Cell::new(tried.verdict.name()).toned(tone(tried.verdict)),
                Cell::new(time(millis(tried.took))),
            ]);
        }
        let mut text = format!("{}\n", table.render(ink));
        for tried in self.tried.iter().filter(|tried| tried.verdict != CaseVerdict::AsStated) {
            text.push_str(&format!("{}: {}\n", tried.choice.name, tried.verdict.name()));
            text.push_str(&tried.broken.iter().map(|broken| indented(broken, 2)).collect::<String>());
        }
        for family in Family::ALL {
            let (held, all) = self.count(|tried| tried.choice.family() == family);
            if all > 0 {
                text.push_str(&format!(
                    "{:<14} {held} of {all} as stated: {}\n",
                    family.name(),
                    family.about()
                ));
            }
        }
        let lies: Vec<&TrialResult> =
            self.tried.iter().filter(|tried| tried.choice.is_measured_lie()).collect();
        if !lies.is_empty() {
            let accepted = lies.iter().filter(|tried| tried.verdict.is_accepted()).count();
            text.push_str(&format!("{:<14} {accepted} of {} accepted\n", "measured lies", lies.len()));
        }
        for left_out in &self.left_out {
            text.push_str(&format!(
                "{:<14} {} cases, since {} is not installed: `{}`, then `remand gauntlet --tools {}`\n",
                "left out",
                left_out.cases.len(),
                left_out.needs,
                left_out.install,
                left_out.folder
            ));
        }
        let (held, all) = self.count(|_| true);
        text.push_str(&format!("{:<14} {held} of {all} as stated, in {}\n", "all", time(millis(self.took))));
        text
    }

    pub fn json(&self) -> Value {
        let cases: Vec<Value> = self
            .tried
            .iter()
            .map(|tried| {
                json!({
                    "family": tried.choice.family().name(), "case": tried.choice.short(),
                    "kind": tried.choice.kind(), "honest": tried.choice.is_honest(), "tries": tried.choice.case.title, "happened": tried.happened,
                    "verdict": tried.verdict.name(), "broken": tried.broken,
                    "milliseconds": millis(tried.took), "folder": tried.folder,
                })
            })
            .collect();
        let (held, all) = self.count(|_| true);
        let left_out: Vec<Value> = self
            .left_out
            .iter()
            .map(|left_out| json!({ "needs": left_out.needs, "cases": left_out.cases, "install": left_out.install }))
            .collect();
        json!({ "cases": cases, "left-out": left_out, "as-stated": held, "all": all, "milliseconds": millis(self.took) })
    }

    /// The number of matching cases that are as stated, and of all matching cases.
    fn count(&self, matches: impl Fn(&TrialResult) -> bool) -> (usize, usize) {
        let matching = self.tried.iter().filter(|tried| matches(tried));
        let held = matching.clone().filter(|tried| tried.verdict == CaseVerdict::AsStated);
        (held.count(), matching.count())
    }
}

pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn tone(verdict: CaseVerdict) -> Tone {
    match verdict {
        CaseVerdict::AsStated => Tone::Good,
        CaseVerdict::BadWorkCommitted
        | CaseVerdict::GoodWorkStopped
        | CaseVerdict::Escaped
        | CaseVerdict::NotAsStated => Tone::Bad,
    }
}
