//! The forms of a report, one per file: text for people, and formats that other programs read.

mod github;
mod in_toto;
mod junit;
mod markdown;
mod sarif;
mod text;
mod words;

use crate::ChangeReport;
use remand_notation::ordered;

pub use in_toto::{PAYLOAD_TYPE, envelope, pre_authentication, statement};

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReportForm {
    /// For a terminal.
    Text,
    Json,
    /// For a step summary or the text of a pull request.
    Markdown,
    Sarif,
    Junit,
    /// Annotations that GitHub reads from the output of a step.
    Github,
    /// An unsigned in-toto statement; see `envelope`.
    InToto,
}

#[cfg(test)]
mod forms_tests;

impl ReportForm {
    pub const ALL: [ReportForm; 7] = [
        ReportForm::Text,
        ReportForm::Json,
        ReportForm::Markdown,
        ReportForm::Sarif,
        ReportForm::Junit,
        ReportForm::Github,
        ReportForm::InToto,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ReportForm::Text => "text",
            ReportForm::Json => "json",
            ReportForm::Markdown => "markdown",
            ReportForm::Sarif => "sarif",
            ReportForm::Junit => "junit",
            ReportForm::Github => "github",
            ReportForm::InToto => "in-toto",
        }
    }

    pub fn by_name(name: &str) -> Option<ReportForm> {
        ReportForm::ALL.into_iter().find(|form| form.name() == name)
    }

    /// The report in this form, ending with a line break.
    pub fn render(self, report: &ChangeReport) -> String {
        match self {
            ReportForm::Text => text::render(report),
            ReportForm::Json => match serde_json::to_value(report) {
                Ok(value) => format!("{}\n", ordered::page(&value)),
                // Every field is plain data with text keys, so this does not happen.
                Err(error) => format!("{{\"error\": \"{error}\"}}\n"),
            },
            ReportForm::Markdown => markdown::render(report),
            ReportForm::Sarif => format!("{}\n", ordered::page(&sarif::log(report))),
            ReportForm::Junit => junit::render(report),
            ReportForm::Github => github::render(report),
            ReportForm::InToto => format!("{}\n", ordered::page(&statement(report))),
        }
    }
}
