//! Entries that the engine adds to a ticket: entries of the workflow log, and human feedback from gates.

use super::Ticket;
use crate::markdown::Section;

const LOG_TITLES: [&str; 3] = ["Workflow Log", "Work Log", "Log"];
const FEEDBACK_TITLES: [&str; 2] = ["Human Feedback", "Feedback"];
const IMPLEMENTATION_ENTRY: &str = "Implementation Phase";
const REVISION_ENTRY: &str = "Design Revision Phase";

/// The topic of human feedback, in the order of the sections.
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

    /// Whether a heading has this title, possibly with a remark after it.
    fn is_title(self, title: &str) -> bool {
        let rest = title.to_lowercase().strip_prefix(&self.title().to_lowercase()).map(str::to_string);
        rest.is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with(['(', ':', '-', '—']))
    }
}

impl Ticket {
    /// Adds an entry about a design revision after the earlier ones, or after the implementation phase.
    pub fn log_revision(&mut self, title: &str, body: &str) {
        let log = self.log_section();
        let last_entry = |start: &str| {
            let found =
                self.page.sections().filter(|section| log.body.contains(&section.heading.lines.start));
            found.filter(|section| section.heading.title.starts_with(start)).last()
        };
        let neighbour = last_entry(REVISION_ENTRY).or_else(|| last_entry(IMPLEMENTATION_ENTRY));
        let level = neighbour.as_ref().map_or(log.heading.level + 1, |section| section.heading.level);
        let before = neighbour.map_or(log.body.end, |section| section.body.end);
        self.insert_section(before, level, &format!("{REVISION_ENTRY} {title}"), body);
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
    pub fn add_feedback(&mut self, on: Feedback, text: &str) {
        let parent = self.feedback_section();
        let is_inside = |section: &Section| parent.body.contains(&section.heading.lines.start);
        let find = |ticket: &Ticket, topic: Feedback| {
            ticket.page.sections().filter(is_inside).find(|section| topic.is_title(&section.heading.title))
        };
        if let Some(section) = find(self, on) {
            return self.append(&section, text);
        }
        let earlier = Feedback::ALL.into_iter().filter(|other| *other < on);
        let neighbour = earlier.filter_map(|other| find(self, other)).next_back();
        let level = neighbour.as_ref().map_or(parent.heading.level + 1, |section| section.heading.level);
        let before = neighbour.map_or(parent.body.end, |section| section.body.end);
        self.insert_section(before, level, on.title(), text);
    }

    /// Appends lines to a section. If the section ends with a list, list items continue that list.
    fn append(&mut self, section: &Section, lines: &str) {
        let body = self.direct_body(section);
        let end = self.page.end_of_writing(body.clone());
        let last = self.text()[body.start..end.max(body.start)].lines().next_back().unwrap_or_default();
        if end > body.start && last.trim_start().starts_with("- ") && lines.starts_with("- ") {
            let is_at_end = end == self.text().len() && !self.text().ends_with('\n');
            let block =
                if is_at_end { format!("\n{}", lines.trim_end()) } else { format!("{}\n", lines.trim_end()) };
            self.page.splice(end..end, &block);
        } else {
            self.insert_block(0..end.max(body.start), lines);
        }
    }

    fn log_section(&mut self) -> Section {
        let feedback = self.section(&FEEDBACK_TITLES).map(|section| section.heading.lines.start);
        self.section_or_new(&LOG_TITLES, feedback)
    }

    fn feedback_section(&mut self) -> Section {
        self.section_or_new(&FEEDBACK_TITLES, None)
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
        let inserted = self.section(titles);
        inserted.unwrap_or_else(|| Section {
            heading: crate::markdown::Heading { level, title: title.to_string(), lines: before..before },
            body: self.text().len()..self.text().len(),
        })
    }
}
