//! Figures with their goals: a table for people, JSON for machines.

use remand_terminal::table::{Cell, ColumnFit, TextTable};

use remand_terminal::{Ink, Tone};
use serde_json::{Value, json};

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct BenchReport {
    pub folder: String,
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
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Goal::AtMost(max) => value <= max,
            Goal::AtLeast(min) => value >= min,
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The number of what the measurement counts.
    Count,
    /// A factor.
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
    pub fn is_met(&self) -> bool {
        self.goal.is_met_by(self.value)
    }

    fn verdict(&self) -> &'static str {
        if self.is_met() { "met" } else { "missed" }
    }

    fn value_text(&self) -> String {
        format!("{}{}", number(self.value), self.unit.name())
    }

    fn goal_text(&self) -> String {
        let (sign, limit) = match self.goal {
            Goal::AtMost(max) => ("≤", max),
            Goal::AtLeast(min) => ("≥", min),
        };
        // Goals are round numbers, so they are not rounded.
        format!("{sign} {limit}{}", self.unit.name())
    }

    fn json(&self) -> Value {
        let goal = match self.goal {
            Goal::AtMost(max) => json!({ "at-most": max }),
            Goal::AtLeast(min) => json!({ "at-least": min }),
        };
        json!({
            "measurement": self.what, "figure": self.value, "unit": self.unit.name().trim(), "goal": goal,
            "verdict": self.verdict(), "note": self.note,
        })
    }
}

/// The value with about three significant digits.
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
            "place": self.folder, "file-system": self.file_system,
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
            let tone = if figure.is_met() { Tone::Good } else { Tone::Bad };
            table.row(vec![
                Cell::new(&figure.what),
                Cell::new(figure.value_text()),
                Cell::new(figure.goal_text()),
                Cell::new(figure.verdict()).toned(tone),
                Cell::new(&figure.note),
            ]);
        }
        let file_system = self.file_system.as_deref().unwrap_or("an unknown file system");
        let met = self.figures.iter().filter(|figure| figure.is_met()).count();
        format!(
            "{} on {file_system}, {} build, {}\n\n{}\n{met} of {} goals met\n",
            self.folder,
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
    fn a_figure_exactly_at_its_goal_meets_it() {
        assert!(figure(15.0, Goal::AtMost(15.0)).is_met());
        assert!(!figure(15.01, Goal::AtMost(15.0)).is_met());
        assert!(figure(6.0, Goal::AtLeast(6.0)).is_met());
        assert!(!figure(5.99, Goal::AtLeast(6.0)).is_met());
    }

    #[test]
    fn the_table_shows_figure_goal_and_verdict() {
        let report = BenchReport {
            folder: "/state".to_string(),
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
