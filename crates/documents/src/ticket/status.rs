//! The statuses of a ticket, in their order, and how people write them.

use std::sync::LazyLock;

/// Where a ticket stands. The order is that of the work (DR-02); `Closed` comes last, whatever came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
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

impl Status {
    pub const ALL: [Status; 13] = [
        Status::Draft,
        Status::ReadyForDesign,
        Status::DesignComplete,
        Status::DesignApproved,
        Status::PrototypeComplete,
        Status::ReadyForImplementation,
        Status::ImplementationBlocked,
        Status::ImplementationComplete,
        Status::TestWritingComplete,
        Status::QualityGatePassed,
        Status::Approved,
        Status::Merged,
        Status::Closed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Status::Draft => "Draft",
            Status::ReadyForDesign => "Ready for Design",
            Status::DesignComplete => "Design Complete — Awaiting Review",
            Status::DesignApproved => "Design Approved — Ready for Prototype",
            Status::PrototypeComplete => "Prototype Complete — Awaiting Review",
            Status::ReadyForImplementation => "Ready for Implementation",
            Status::ImplementationBlocked => "Implementation Blocked — Design Revision Needed",
            Status::ImplementationComplete => "Implementation Complete — Awaiting Test Writing",
            Status::TestWritingComplete => "Test Writing Complete — Awaiting Quality Gate",
            Status::QualityGatePassed => "Quality Gate Passed — Awaiting Review",
            Status::Approved => "Approved — Ready to Merge",
            Status::Merged => "Merged / Complete",
            Status::Closed => "Closed",
        }
    }

    /// The status that a line begins with. Case, dashes, markup and a note behind it do not matter, nor does a second
    /// half that is left out: `design complete - Bob looks at it` is a completed design.
    pub fn of_line(line: &str) -> Option<Status> {
        static NAMES: LazyLock<Vec<(Status, [String; 2])>> =
            LazyLock::new(|| Status::ALL.map(|status| (status, status.written())).to_vec());
        let line = plain(line);
        let fits = |name: &String| line.strip_prefix(name.as_str()).is_some_and(ends_there);
        NAMES.iter().find(|(_, names)| names.iter().any(fits)).map(|(status, _)| *status)
    }

    /// The name, whole and without its second half.
    fn written(self) -> [String; 2] {
        let name = plain(self.name());
        let half = name.split(['-', '/']).next().unwrap_or_default().trim().to_string();
        [name, half]
    }
}

/// Whether a name is over here: at the end, or at something that no name goes on with.
fn ends_there(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.chars().next().is_none_or(|next| "-([{:;,.!?<→/\"'".contains(next))
}

/// Lower case, single blanks, one kind of dash, no markup.
fn plain(text: &str) -> String {
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
    fn every_status_is_known_by_its_name_and_by_its_first_half() {
        for status in Status::ALL {
            assert_eq!(Status::of_line(status.name()), Some(status), "{status:?}");
            let half = status.name().split(['—', '/']).next().unwrap_or_default();
            assert_eq!(Status::of_line(half), Some(status), "{half}");
        }
        assert!(Status::ALL.is_sorted());
        assert!(Status::ReadyForImplementation < Status::ImplementationBlocked);
        assert!(Status::ImplementationBlocked < Status::ImplementationComplete);
    }

    // DR-02
    #[test]
    fn notes_markup_and_other_dashes_do_not_hide_a_status_and_other_words_do() {
        for (line, status) in [
            ("**Draft**", Some(Status::Draft)),
            ("ready for design (since Monday)", Some(Status::ReadyForDesign)),
            ("Design Complete -- awaiting review, Bob", Some(Status::DesignComplete)),
            ("Design complete – Bob looks at it", Some(Status::DesignComplete)),
            ("~~Implementation Blocked~~: no more", Some(Status::ImplementationBlocked)),
            ("Merged/Complete", Some(Status::Merged)),
            ("Approved by Bob", None),
            ("Draft the manual", None),
            ("Ready for Design Review", None),
            ("On Hold", None),
            ("", None),
        ] {
            assert_eq!(Status::of_line(line), status, "{line}");
        }
    }
}
