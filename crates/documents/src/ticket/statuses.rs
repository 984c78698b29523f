//! The status boxes of a ticket. The latest ticked status is the status of the ticket.

use super::{Ticket, TicketStatus};
use crate::markdown::{CheckBox, Section};
use std::collections::BTreeMap;

impl Ticket {
    /// The status of the ticket, if it has one.
    pub fn status(&self) -> Option<TicketStatus> {
        let boxes = self.status_boxes();
        boxes.into_iter().filter(|(_, found)| found.ticked).map(|(status, _)| status).max()
    }

    /// The statuses that the ticket lists, with their ticks.
    pub fn statuses(&self) -> Vec<(TicketStatus, bool)> {
        self.status_boxes().into_iter().map(|(status, found)| (status, found.ticked)).collect()
    }

    /// Moves the ticket to a status: ticks its box, and unticks those of later statuses. Notes after a box and boxes of other
    /// kinds stay.
    pub fn set_status(&mut self, status: TicketStatus) {
        if !self.status_boxes().contains_key(&status) {
            self.insert_status(status);
        }
        // A ticked box is as wide as an empty one, so positions do not change.
        for (other, found) in self.status_boxes() {
            self.page.tick(&found, other == status || (found.ticked && other < status));
        }
    }

    /// The section that lists the most statuses, under any title.
    pub(super) fn status_section(&self) -> Option<Section> {
        let count = |section: &Section| {
            let body = self.direct_body(section);
            self.page.boxes(body).filter(|found| self.status_of(found).is_some()).count()
        };
        let mut best: Option<(usize, Section)> = None;
        for section in self.page.sections() {
            let count = count(&section);
            if count > best.as_ref().map_or(0, |(count, _)| *count) {
                best = Some((count, section));
            }
        }
        best.map(|(_, section)| section)
    }

    /// The first box of each status.
    fn status_boxes(&self) -> BTreeMap<TicketStatus, CheckBox> {
        let within = match self.status_section() {
            Some(section) => self.direct_body(&section),
            None => 0..self.page.headings().first().map_or(self.text().len(), |first| first.lines.start),
        };
        let mut boxes = BTreeMap::new();
        for found in self.page.boxes(within) {
            if let Some(status) = self.status_of(found) {
                boxes.entry(status).or_insert_with(|| found.clone());
            }
        }
        boxes
    }

    fn status_of(&self, found: &CheckBox) -> Option<TicketStatus> {
        TicketStatus::of_line(&self.text()[found.label.clone()])
    }

    /// Inserts a missing status after the nearest earlier one, or before the first.
    fn insert_status(&mut self, status: TicketStatus) {
        let boxes = self.status_boxes();
        let earlier = boxes.range(..status).next_back().map(|(_, found)| found.clone());
        let Some(neighbour) = earlier.clone().or_else(|| boxes.values().next().cloned()) else {
            return self.insert_status_section();
        };
        let text = self.text();
        let start = text[..neighbour.mark.start].rfind('\n').map_or(0, |at| at + 1);
        let bullet = &text[start..neighbour.mark.start - 1];
        let line = format!("{bullet}[ ] {}", status.name());
        match earlier {
            Some(earlier) => {
                let end = self.end_of_item(earlier.label.end);
                self.page.splice(end..end, &format!("\n{line}"));
            }
            None => self.page.splice(start..start, &format!("{line}\n")),
        }
    }

    /// The end of a list item, including the indented lines below it.
    fn end_of_item(&self, mut end: usize) -> usize {
        let text = self.text();
        while let Some(rest) = text.get(end..).map(|rest| rest.trim_start_matches('\r')) {
            let Some(next) = rest.strip_prefix('\n') else { break };
            let line = next.split(['\r', '\n']).next().unwrap_or_default();
            let is_box = line.trim_start().get(1..).is_some_and(|rest| rest.trim_start().starts_with('['));
            if !line.starts_with([' ', '\t']) || line.trim().is_empty() || is_box {
                break;
            }
            end = text.len() - next.len() + line.len();
        }
        end
    }

    /// Inserts all statuses into a ticket without any: into its section `Status`, or below the title.
    fn insert_status_section(&mut self) {
        let lines: Vec<String> =
            TicketStatus::ALL.into_iter().map(|status| format!("- [ ] {}", status.name())).collect();
        if let Some(section) = self.page.section(&["Status"]) {
            let body = self.direct_body(&section);
            return self.insert_block(0..self.page.end_of_writing(body), &lines.join("\n"));
        }
        let level = self.level();
        let title = self.page.headings().iter().position(|heading| heading.level < level);
        let headings = self.page.headings();
        let next = title.map_or(0, |title| title + 1);
        let before = headings.get(next).map_or(self.text().len(), |heading| heading.lines.start);
        self.insert_section(before, level, "Status", &lines.join("\n"));
    }
}
