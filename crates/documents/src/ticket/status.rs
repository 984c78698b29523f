//! The statuses of a ticket, in order, and how people write them.

use std::sync::LazyLock;

/// The status of a ticket, in the order of work; `Closed` comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TicketStatus {
    Draft,
    ReadyForDesign,
    DesignComplete,
    DesignApproved,
    PrototypeComplete,
    ReadyForImplementation,
    ImplementationBlocked,
    ImplementationComplete,
    TestWritingComplete,
    QualityGatePassed,
    Approved,
    Merged,
    Closed,
}

impl TicketStatus {
    pub const ALL: [TicketStatus; 13] = [
        TicketStatus::Draft,
        TicketStatus::ReadyForDesign,
        TicketStatus::DesignComplete,
        TicketStatus::DesignApproved,
        TicketStatus::PrototypeComplete,
        TicketStatus::ReadyForImplementation,
        TicketStatus::ImplementationBlocked,
        TicketStatus::ImplementationComplete,
        TicketStatus::TestWritingComplete,
        TicketStatus::QualityGatePassed,
        TicketStatus::Approved,
        TicketStatus::Merged,
        TicketStatus::Closed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            TicketStatus::Draft => "Draft",
            TicketStatus::ReadyForDesign => "Ready for Design",
            TicketStatus::DesignComplete => "Design Complete — Awaiting Review",
            TicketStatus::DesignApproved => "Design Approved — Ready for Prototype",
            TicketStatus::PrototypeComplete => "Prototype Complete — Awaiting Review",
            TicketStatus::ReadyForImplementation => "Ready for Implementation",
            TicketStatus::ImplementationBlocked => "Implementation Blocked — Design Revision Needed",
            TicketStatus::ImplementationComplete => "Implementation Complete — Awaiting Test Writing",
            TicketStatus::TestWritingComplete => "Test Writing Complete — Awaiting Quality Gate",
            TicketStatus::QualityGatePassed => "Quality Gate Passed — Awaiting Review",
            TicketStatus::Approved => "Approved — Ready to Merge",
            TicketStatus::Merged => "Merged / Complete",
            TicketStatus::Closed => "Closed",
        }
    }

    /// The status that a line starts with. Case, kinds of dashes, markup and a trailing note are ignored, and the second half
    /// of a name may be missing: `design complete - Bob looks at it` is `DesignComplete`.
    pub fn of_line(line: &str) -> Option<TicketStatus> {
        static NAMES: LazyLock<Vec<(TicketStatus, Vec<String>)>> =
            LazyLock::new(|| TicketStatus::ALL.map(|status| (status, status.spellings())).to_vec());
        let line = normalized(line);
        let is_start = |name: &String| line.strip_prefix(name.as_str()).is_some_and(ends_name);
        NAMES.iter().find(|(_, names)| names.iter().any(is_start)).map(|(status, _)| *status)
    }

    /// The name, in full and without its second half, and other words for it.
    fn spellings(self) -> Vec<String> {
        let name = normalized(self.name());
        let half = name.split(['-', '/']).next().unwrap_or_default().trim().to_string();
        let others: &[&str] = match self {
            // A ticket that only investigates ends without a merge.
            TicketStatus::Merged => &["complete", "investigation complete"],
            TicketStatus::Draft
            | TicketStatus::ReadyForDesign
            | TicketStatus::DesignComplete
            | TicketStatus::DesignApproved
            | TicketStatus::PrototypeComplete
            | TicketStatus::ReadyForImplementation
            | TicketStatus::ImplementationBlocked
            | TicketStatus::ImplementationComplete
            | TicketStatus::TestWritingComplete
            | TicketStatus::QualityGatePassed
            | TicketStatus::Approved
            | TicketStatus::Closed => &[],
        };
        [name, half].into_iter().chain(others.iter().map(ToString::to_string)).collect()
    }
}

/// Whether this text may follow a name: it is empty, or starts with punctuation.
fn ends_name(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.chars().next().is_none_or(|next| "-([{:;,.!?<→/\"'".contains(next))
}

/// The text in lower case, with single spaces, one kind of dash and no markup.
fn normalized(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|letter| !"*_`~".contains(*letter))
        .map(|letter| if matches!(letter, '—' | '–' | '−' | '‐' | '‑') { '-' } else { letter })
        .collect();
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").replace("--", "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    // DR-02
    #[test]
    fn every_status_is_recognised_by_its_name_and_by_its_first_half() {
        for status in TicketStatus::ALL {
            assert_eq!(TicketStatus::of_line(status.name()), Some(status), "{status:?}");
            let half = status.name().split(['—', '/']).next().unwrap_or_default();
            assert_eq!(TicketStatus::of_line(half), Some(status), "{half}");
        }
        assert!(TicketStatus::ALL.is_sorted());
        assert!(TicketStatus::ReadyForImplementation < TicketStatus::ImplementationBlocked);
        assert!(TicketStatus::ImplementationBlocked < TicketStatus::ImplementationComplete);
    }

    // DR-02
    #[test]
    fn a_status_is_recognised_with_notes_and_markup_but_not_with_other_words() {
        for (line, status) in [
            ("**Draft**", Some(TicketStatus::Draft)),
            ("ready for design (since Monday)", Some(TicketStatus::ReadyForDesign)),
            ("Design Complete -- awaiting review, Bob", Some(TicketStatus::DesignComplete)),
            ("Design complete – Bob looks at it", Some(TicketStatus::DesignComplete)),
            ("~~Implementation Blocked~~: no more", Some(TicketStatus::ImplementationBlocked)),
            ("Merged/Complete", Some(TicketStatus::Merged)),
            ("**Complete**", Some(TicketStatus::Merged)),
            ("Investigation Complete (see the log)", Some(TicketStatus::Merged)),
            ("Complete the manual", None),
            ("Approved by Bob", None),
            ("Draft the manual", None),
            ("Ready for Design Review", None),
            ("On Hold", None),
            ("", None),
        ] {
            assert_eq!(TicketStatus::of_line(line), status, "{line}");
        }
    }
}
