//! What the engine adds to a ticket: entries of the workflow log, and human feedback from gates.

use super::Ticket;
use crate::markdown::Section;

const LOG: [&str; 3] = ["Workflow Log", "Work Log", "Log"];
const FEEDBACK: [&str; 2] = ["Human Feedback", "Feedback"];
const IMPLEMENTATION: &str = "Implementation Phase";
const REVISION: &str = "Design Revision Phase";

/// What human feedback is about, in the order of the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feedback {
    Design,
    Prototype,
    Implementation,
    DesignRevision,
}

impl Feedback {
    const ALL: [Feedback; 4] =
        [Feedback::Design, Feedback::Prototype, Feedback::Implementation, Feedback::DesignRevision];

    fn title(self) -> &'static str {
        match self {
            Feedback::Design => "Feedback on Design",
            Feedback::Prototype => "Feedback on Prototype",
            Feedback::Implementation => "Feedback on Implementation",
            Feedback::DesignRevision => "Feedback on Design Revision",
        }
    }

    /// Whether a heading is this one, possibly with a remark after it.
    fn heads(self, title: &str) -> bool {
        let rest = title.to_lowercase().strip_prefix(&self.title().to_lowercase()).map(str::to_string);
        rest.is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with(['(', ':', '-', '—']))
    }
}

impl Ticket {
    /// Adds an entry on a design revision after earlier ones, or after the implementation phase.
    pub fn log_revision(&mut self, title: &str, body: &str) {
        let log = self.log_section();
        let inside = |wanted: &str| {
            let found =
                self.page.sections().filter(|section| log.body.contains(&section.heading.lines.start));
            found.filter(|section| section.heading.title.starts_with(wanted)).last()
        };
        let neighbour = inside(REVISION).or_else(|| inside(IMPLEMENTATION));
        let level = neighbour.as_ref().map_or(log.heading.level + 1, |section| section.heading.level);
        let before = neighbour.map_or(log.body.end, |section| section.body.end);
        self.insert_section(before, level, &format!("{REVISION} {title}"), body);
    }

    /// Adds lines to an entry of the log, which is created if it is missing.
    pub fn log(&mut self, entry: &str, lines: &str) {
        let log = self.log_section();
        let found = self.page.sections().find(|section| {
            log.body.contains(&section.heading.lines.start) && section.heading.title.starts_with(entry)
        });
        match found {
            Some(section) => self.append(&section, lines),
            None => self.insert_section(log.body.end, log.heading.level + 1, entry, lines),
        }
    }

    /// Adds human feedback.
    pub fn add_feedback(&mut self, on: Feedback, said: &str) {
        let whole = self.feedback_section();
        let within = |section: &Section| whole.body.contains(&section.heading.lines.start);
        let of = |ticket: &Ticket, wanted: Feedback| {
            ticket.page.sections().filter(within).find(|section| wanted.heads(&section.heading.title))
        };
        if let Some(section) = of(self, on) {
            return self.append(&section, said);
        }
        let earlier = Feedback::ALL.into_iter().filter(|other| *other < on);
        let neighbour = earlier.filter_map(|other| of(self, other)).next_back();
        let level = neighbour.as_ref().map_or(whole.heading.level + 1, |section| section.heading.level);
        let before = neighbour.map_or(whole.body.end, |section| section.body.end);
        self.insert_section(before, level, on.title(), said);
    }

    /// Appends lines to a section, to its list if it ends with one.
    fn append(&mut self, section: &Section, lines: &str) {
        let own = self.own_part(section);
        let end = self.page.end_of_writing(own.clone());
        let last = self.text()[own.start..end.max(own.start)].lines().next_back().unwrap_or_default();
        if end > own.start && last.trim_start().starts_with("- ") && lines.starts_with("- ") {
            let at_end = end == self.text().len() && !self.text().ends_with('\n');
            let block =
                if at_end { format!("\n{}", lines.trim_end()) } else { format!("{}\n", lines.trim_end()) };
            self.page.splice(end..end, &block);
        } else {
            self.insert_block(0..end.max(own.start), lines);
        }
    }

    fn log_section(&mut self) -> Section {
        let feedback = self.section(&FEEDBACK).map(|section| section.heading.lines.start);
        self.section_or_new(&LOG, feedback)
    }

    fn feedback_section(&mut self) -> Section {
        self.section_or_new(&FEEDBACK, None)
    }

    /// The section with one of these titles; a missing one is inserted before a position, or at the end.
    fn section_or_new(&mut self, titles: &[&str], before: Option<usize>) -> Section {
        if let Some(section) = self.section(titles) {
            return section;
        }
        let title = titles.first().copied().unwrap_or_default();
        let before = before.unwrap_or(self.text().len());
        let level = self.level();
        self.insert_section(before, level, title, "");
        let made = self.section(titles);
        made.unwrap_or_else(|| Section {
            heading: crate::markdown::Heading { level, title: title.to_string(), lines: before..before },
            body: self.text().len()..self.text().len(),
        })
    }
}
