//! Figures with their goals: a table for people, JSON for machines.

use remand_terminal::table::{Cell, ColumnFit, TextTable};

use remand_terminal::{Ink, Tone};
use serde_json::{Value, json};

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct BenchReport {
    pub place: String,
    pub file_system: Option<String>,
    pub build: Build,
    pub size: String,
    pub figures: Vec<Figure>,
}

/// The build of the measuring program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    Release,
    Debug,
}

impl Build {
    pub fn this() -> Build {
        if cfg!(debug_assertions) { Build::Debug } else { Build::Release }
    }

    pub fn name(self) -> &'static str {
        match self {
            Build::Release => "release",
            Build::Debug => "debug",
        }
    }
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Figure {
    pub what: String,
    pub value: f64,
    pub unit: Unit,
    pub goal: Goal,
    /// How it was measured, and further observations.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn met_by(self, value: f64) -> bool {
        match self {
            Goal::AtMost(most) => value <= most,
            Goal::AtLeast(least) => value >= least,
        }
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Counts what the measurement names.
    Count,
    Times,
    Millis,
    Micros,
    Kilobytes,
    Megabytes,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::Times => "×",
            Unit::Millis => " ms",
            Unit::Micros => " µs",
            Unit::Kilobytes => " KB",
            Unit::Megabytes => " MB",
        }
    }
}

impl Figure {
    pub fn met(&self) -> bool {
        self.goal.met_by(self.value)
    }

    fn verdict(&self) -> &'static str {
        if self.met() { "met" } else { "missed" }
    }

    fn shown(&self) -> String {
        format!("{}{}", number(self.value), self.unit.name())
    }

    fn goal(&self) -> String {
        let (sign, limit) = match self.goal {
            Goal::AtMost(most) => ("≤", most),
            Goal::AtLeast(least) => ("≥", least),
        };
        // Limits are round numbers.
        format!("{sign} {limit}{}", self.unit.name())
    }

    fn json(&self) -> Value {
        let goal = match self.goal {
            Goal::AtMost(most) => json!({ "at-most": most }),
            Goal::AtLeast(least) => json!({ "at-least": least }),
        };
        json!({
            "measurement": self.what, "figure": self.value, "unit": self.unit.name().trim(), "goal": goal,
            "verdict": self.verdict(), "note": self.note,
        })
    }
}

/// Three significant digits.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

impl BenchReport {
    pub fn json(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"), "build": self.build.name(), "size": self.size,
            "place": self.place, "file-system": self.file_system,
            "measurements": self.figures.iter().map(Figure::json).collect::<Vec<_>>(),
        })
    }

    pub fn text(&self, ink: Ink) -> String {
        let mut table = TextTable::new(&[
            ("measurement", ColumnFit::Wrap),
            ("figure", ColumnFit::Whole),
            ("goal", ColumnFit::Whole),
            ("verdict", ColumnFit::Whole),
            ("note", ColumnFit::Wrap),
        ]);
        for figure in &self.figures {
            let tone = if figure.met() { Tone::Good } else { Tone::Bad };
            table.row(vec![
                Cell::new(&figure.what),
                Cell::new(figure.shown()),
                Cell::new(figure.goal()),
                Cell::new(figure.verdict()).toned(tone),
                Cell::new(&figure.note),
            ]);
        }
        let file_system = self.file_system.as_deref().unwrap_or("an unknown file system");
        let met = self.figures.iter().filter(|figure| figure.met()).count();
        format!(
            "{} on {file_system}, {} build, {}\n\n{}\n{met} of {} goals met\n",
            self.place,
            self.build.name(),
            self.size,
            table.render(ink),
            self.figures.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, goal: Goal) -> Figure {
        let (what, note) = ("gate".to_string(), "on paper".to_string());
        Figure { what, value, unit: Unit::Micros, goal, note }
    }

    #[test]
    fn a_figure_at_its_goal_has_met_it_and_one_beyond_has_not() {
        assert!(figure(15.0, Goal::AtMost(15.0)).met());
        assert!(!figure(15.01, Goal::AtMost(15.0)).met());
        assert!(figure(6.0, Goal::AtLeast(6.0)).met());
        assert!(!figure(5.99, Goal::AtLeast(6.0)).met());
    }

    #[test]
    fn the_table_shows_figure_goal_and_verdict() {
        let report = BenchReport {
            place: "/state".to_string(),
            file_system: Some("ext4".to_string()),
            build: Build::Release,
            size: "full size".to_string(),
            figures: vec![figure(7.312, Goal::AtMost(15.0)), figure(153.7, Goal::AtMost(15.0))],
        };
        let expected = "\
/state on ext4, release build, full size

measurement  figure   goal     verdict  note
gate         7.31 µs  ≤ 15 µs  met      on paper
gate         154 µs   ≤ 15 µs  missed   on paper

1 of 2 goals met
";
        assert_eq!(report.text(Ink::Plain), expected);
    }
}
