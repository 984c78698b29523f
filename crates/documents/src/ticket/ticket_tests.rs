//! Tests with tickets as people leave them: they are read correctly, and a change loses nothing.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Hand-written tickets.
fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tickets");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let name =
        |path: &Path| path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap_or_default())).collect()
}

fn fixture(name: &str) -> Ticket {
    let found = fixtures().into_iter().find(|(stem, _)| stem.starts_with(name));
    Ticket::read(found.map(|(_, text)| text).unwrap_or_default())
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Asserts that a status change touched only status lines, and only their ticks.
fn assert_only_ticks(before: &str, status: TicketStatus) -> Result<(), TestCaseError> {
    let listed = Ticket::read(before).statuses();
    let mut ticket = Ticket::read(before);
    ticket.set_status(status);
    prop_assert_eq!(ticket.status(), Some(status));
    let after = ticket.text().to_string();
    if !listed.iter().any(|(other, _)| *other == status) {
        // A line or section is added: everything else still exists, in the same order.
        let mut rest = after.as_str();
        for line in lines(before).into_iter().map(|line| line.trim_end_matches(['\r', '\n'])) {
            let open = line.replacen("[x]", "[ ]", 1).replacen("[X]", "[ ]", 1);
            let at = [rest.find(line), rest.find(&open)].into_iter().flatten().min();
            prop_assert!(at.is_some(), "lost {:?}", line);
            rest = &rest[at.unwrap_or(0) + line.len().min(rest.len())..];
        }
        return Ok(());
    }
    let changed: Vec<(&str, &str)> =
        lines(before).into_iter().zip(lines(&after)).filter(|(old, new)| old != new).collect();
    prop_assert_eq!(lines(before).len(), lines(&after).len());
    let expected = listed
        .iter()
        .filter(|(other, ticked)| if *other == status { !ticked } else { *ticked && *other > status })
        .count();
    prop_assert_eq!(changed.len(), expected, "{:?}", &changed);
    for (old, new) in changed {
        let bare = |line: &str| line.replacen("[x]", "[ ]", 1).replacen("[X]", "[ ]", 1);
        prop_assert_eq!(bare(old), bare(new));
    }
    Ok(())
}

// DR-01
#[test]
fn a_status_change_in_a_messy_ticket_alters_only_its_line() {
    let all = fixtures();
    assert!(all.len() >= 30, "{} tickets", all.len());
    for (name, text) in all {
        assert_eq!(Ticket::read(text.clone()).into_text(), text, "{name}");
        for status in TicketStatus::ALL {
            let result = assert_only_ticks(&text, status);
            assert!(result.is_ok(), "{name}, {status:?}: {result:?}");
        }
    }
}

// DR-02
#[test]
fn the_status_is_the_last_ticked_one_wherever_and_however_it_is_written() {
    let expected = [
        ("01", Some(TicketStatus::ReadyForImplementation)),
        ("02", Some(TicketStatus::DesignComplete)),
        ("03", Some(TicketStatus::ReadyForDesign)),
        ("04", None),
        ("05", None),
        ("06", Some(TicketStatus::ReadyForDesign)),
        ("07", Some(TicketStatus::ReadyForDesign)),
        ("08", Some(TicketStatus::Draft)),
        ("09", Some(TicketStatus::Draft)),
        ("10", Some(TicketStatus::Draft)),
        ("11", Some(TicketStatus::ReadyForDesign)),
        ("12", Some(TicketStatus::ReadyForImplementation)),
        ("13", Some(TicketStatus::ImplementationBlocked)),
        ("14", Some(TicketStatus::Draft)),
        ("16", Some(TicketStatus::Draft)),
        ("17", Some(TicketStatus::ReadyForDesign)),
    ];
    for (name, status) in expected {
        assert_eq!(fixture(name).status(), status, "{name}");
    }
}

// DR-02
#[test]
fn moving_forward_ticks_and_moving_back_unticks_later_boxes() {
    let mut ticket = fixture("01");
    ticket.set_status(TicketStatus::QualityGatePassed);
    ticket.set_status(TicketStatus::ImplementationBlocked);
    assert_eq!(ticket.status(), Some(TicketStatus::ImplementationBlocked));
    ticket.set_status(TicketStatus::ReadyForDesign);
    let ticked: Vec<TicketStatus> =
        ticket.statuses().into_iter().filter(|(_, ticked)| *ticked).map(|(status, _)| status).collect();
    assert_eq!(ticked, [TicketStatus::Draft, TicketStatus::ReadyForDesign]);
}

// DR-20
#[test]
fn an_old_ticket_gets_its_missing_parts_at_the_right_positions() {
    let mut ticket = fixture("01");
    assert_eq!(ticket.revisions(), Ok(0));
    assert_eq!(ticket.approaches(), []);
    let before = ticket.text().to_string();
    ticket.set_status(TicketStatus::ImplementationBlocked);
    ticket.set_revisions(1);
    ticket.add_approach(&PastApproach { text: "Two\nphases".into(), decisions: vec!["DD-0075-001".into()] });
    ticket.log_revision("1 of 2", "- **Trigger**: circle");
    ticket.add_feedback(Feedback::DesignRevision, "- approved");
    let expected = before
        .replace(
            "- [x] Ready for Implementation\n",
            "- [x] Ready for Implementation\n- [x] Implementation Blocked — Design Revision Needed\n",
        )
        .replace(
            "- **Requires Math Design**: Yes\n",
            "- **Requires Math Design**: Yes\n- **Design Revision Count**: 1\n- **Previous Design Approaches**:\n  - Two phases [DD-0075-001]\n",
        )
        .replace(
            "  - `src/solver.cpp`\n",
            "  - `src/solver.cpp`\n\n### Design Revision Phase 1 of 2\n\n- **Trigger**: circle\n",
        )
        + "\n### Feedback on Design Revision\n\n- approved\n";
    assert_eq!(ticket.text(), expected);
}

// DR-20
#[test]
fn entries_of_later_revisions_follow_the_earlier_ones() {
    let mut ticket = fixture("01");
    ticket.log_revision("1 of 2", "- one");
    ticket.log_revision("2 of 2", "- two");
    let at = |text: &str| ticket.text().find(text).unwrap_or(usize::MAX);
    assert!(at("### Implementation Phase") < at("Phase 1 of 2") && at("- one") < at("Phase 2 of 2"));
    assert!(at("- two") < at("### Review Phase"), "{}", ticket.text());
}

// DR-20
#[test]
fn a_ticket_without_any_section_gets_them_all() {
    for name in ["04", "05", "15"] {
        let mut ticket = fixture(name);
        let before = ticket.text().to_string();
        ticket.set_status(TicketStatus::ReadyForDesign);
        ticket.set_revisions(2);
        ticket.add_approach(&PastApproach { text: "One".into(), decisions: Vec::new() });
        ticket.log_revision("1 of 2", "- one");
        ticket.add_feedback(Feedback::Design, "- said");
        ticket.add_feedback(Feedback::DesignRevision, "- more");
        let read = Ticket::read(ticket.text());
        assert_eq!(read.status(), Some(TicketStatus::ReadyForDesign), "{name}: {}", ticket.text());
        assert_eq!(read.revisions(), Ok(2), "{name}");
        assert_eq!(read.approaches().len(), 1, "{name}");
        assert_eq!(ticket.text().matches("Human Feedback").count(), 1, "{name}: {}", ticket.text());
        assert!(before.lines().all(|line| ticket.text().contains(line)), "{name}");
        assert_eq!(before.ends_with('\n'), ticket.text().ends_with('\n'), "{name}: {}", ticket.text());
    }
}

#[test]
fn numbers_and_approaches_are_read_in_all_common_spellings() {
    assert_eq!(fixture("02").revisions(), Ok(1));
    let texts = |name: &str| -> Vec<String> {
        fixture(name).approaches().into_iter().map(|approach| approach.text).collect()
    };
    assert_eq!(texts("02"), ["One big lock", "A lock per row"]);
    assert_eq!(texts("16"), ["naïve Lösung", "素朴な解"]);
    assert_eq!(
        texts("13"),
        ["Store the monotonic time with each session.", "Store the wall clock and trust it."]
    );
    assert_eq!(fixture("13").approaches()[0].decisions, ["DD-0097-001", "DD-0097-002"]);
    assert_eq!(fixture("10").revisions(), Ok(1));
    assert_eq!(fixture("14").revisions(), Ok(0));
    assert_eq!(fixture("09").field("requires prototype"), Some("Yes"));
}

// DR-11 DR-20
#[test]
fn counts_in_tables_without_bullets_and_after_blank_lines_are_read() {
    let count = |line: &str| Ticket::read(format!("# T\n\n## Metadata\n\n{line}\n")).revisions();
    assert_eq!(count("**Design Revision Count**: 2"), Ok(2));
    assert_eq!(count("| Field | Value |\n| --- | --- |\n| Design Revision Count | 1 |"), Ok(1));
    let list = "- **Previous Design Approaches**:\n\n\t- A cache on disk\n\t- Polling\n";
    let ticket = Ticket::read(format!("# T\n\n## Metadata\n\n{list}"));
    assert_eq!(ticket.approaches().len(), 2);
    let mut table =
        Ticket::read("# T\n\n## Metadata\n\n| Owner | Ada |\n| --- | --- |\n\n## Log\n".to_string());
    table.set_revisions(1);
    assert_eq!(table.revisions(), Ok(1));
    assert!(table.text().contains("| --- | --- |\n\n- **"), "{}", table.text());
}

// DR-01
#[test]
fn a_section_with_a_similar_title_and_notes_below_a_status_are_left_alone() {
    let mut ticket =
        Ticket::read("# T\n\n## Status\n\n- [x] Draft\n\n## Logic\n\nIt must add.\n".to_string());
    ticket.log("Design Phase", "- done");
    let text = ticket.text();
    assert!(text.find("### Design Phase") > text.find("It must add."), "{text}");
    assert!(text.contains("## Logic\n\nIt must add.\n"), "{text}");
    let noted = "# T\n\n## Status\n\n- [x] Ready for Implementation\n  since Monday,\n  says Ada\n- [ ] Merged / Complete\n";
    let mut ticket = Ticket::read(noted.to_string());
    ticket.set_status(TicketStatus::ImplementationBlocked);
    let below = "- [x] Ready for Implementation\n  since Monday,\n  says Ada\n- [x] Implementation Blocked";
    assert!(ticket.text().contains(below), "{}", ticket.text());
}

#[test]
fn a_count_that_is_not_a_number_is_reported_with_its_line() {
    let revisions = Ticket::read("# T\n\n## Metadata\n\n- **Design Revision Count**: two\n").revisions();
    assert_eq!(
        revisions.map_err(|problem| problem.to_string()),
        Err("line 5: `Design Revision Count` is `two`, which is not a number".into())
    );
}

#[test]
fn changing_metadata_keeps_notes_and_neighbouring_lines() {
    let mut ticket = fixture("07");
    let before = ticket.text().to_string();
    ticket.set_revisions(1);
    ticket.add_approach(&PastApproach { text: "One".into(), decisions: Vec::new() });
    let expected = before.replace("Count**: 0", "Count**: 1").replace(
        "Approaches**: [] (populated by the engine)\r\n",
        "Approaches**: (populated by the engine)\r\n  - One\r\n",
    );
    assert_eq!(ticket.text(), expected);
    let mut ticket = fixture("13");
    let before = ticket.text().to_string();
    ticket.add_approach(&PastApproach { text: "Three".into(), decisions: Vec::new() });
    assert_eq!(ticket.text(), before.replace("     and trust it.\n", "     and trust it.\n  - Three\n"));
    assert_eq!(ticket.approaches().len(), 3);
    assert!(ticket.remove_approach(2) && ticket.text() == before);
    assert!(ticket.remove_approach(1) && !ticket.remove_approach(1));
    assert_eq!(ticket.text(), before.replace("  2. Store the wall clock\n     and trust it.\n", ""));
    let mut inline = fixture("02");
    assert!(inline.remove_approach(0));
    assert_eq!(inline.approaches().len(), 1);
}

#[test]
fn a_new_ticket_has_every_section_that_is_read() {
    let mut ticket = Ticket::read(template("0103", "Sessions expire", "2026-01-31"));
    assert_eq!(ticket.title(), Some("0103: Sessions expire"));
    assert_eq!(ticket.status(), Some(TicketStatus::Draft));
    assert_eq!(ticket.statuses().len(), TicketStatus::ALL.len());
    assert_eq!((ticket.revisions(), ticket.approaches()), (Ok(0), Vec::new()));
    let before = ticket.text().to_string();
    ticket.set_revisions(0);
    assert_eq!(ticket.text(), before);
}

/// Generates tickets with sections in any order, some missing, and text in between.
fn tickets() -> impl Strategy<Value = String> {
    let statuses = proptest::sample::subsequence(TicketStatus::ALL.to_vec(), 0..=13);
    let note = prop_oneof![Just(""), Just(" (since Monday)"), Just(" — Bob"), Just(": late"), Just("  ")];
    let bullet = prop_oneof![Just("-"), Just("*"), Just("+"), Just("  -")];
    let status = (statuses, note, bullet, any::<u16>(), any::<bool>()).prop_map(
        |(all, note, bullet, ticks, has_other_box)| {
            let mut lines: Vec<String> = all
                .iter()
                .enumerate()
                .map(|(at, status)| {
                    let mark = if ticks >> at & 1 == 1 { 'x' } else { ' ' };
                    format!("{bullet} [{mark}] {}{note}\n", status.name())
                })
                .collect();
            if has_other_box {
                lines.insert(lines.len() / 2, format!("{bullet} [x] Waiting for the lawyers\n"));
            }
            format!("## Status\n\n{}\n", lines.concat())
        },
    );
    let count = prop_oneof![Just("0"), Just("1"), Just("2 (max 2)"), Just("")];
    let metadata = (count, any::<bool>()).prop_map(|(count, listed)| {
        let list = if listed { "- **Previous Design Approaches**:\n  - One [DD-1-1]\n" } else { "" };
        format!("## Metadata\n- **Design Revision Count**: {count}\n{list}- **Other**: x\n\n")
    });
    let words = "[a-zA-Z0-9 .,*_`<>|\\[\\]-]{0,40}\n{1,2}".prop_map(|words| format!("## Words\n\n{words}"));
    let code = Just("```\n## Status\n- [x] Closed\n```\n\n".to_string());
    let log = Just("## Workflow Log\n\n### Implementation Phase\n- x\n\n".to_string());
    let sections = vec![status.boxed(), metadata.boxed(), words.boxed(), code.boxed(), log.boxed()];
    let order = proptest::collection::vec(proptest::sample::select(vec![0_usize, 1, 2, 3, 4]), 0..6);
    (order, sections, any::<bool>(), any::<bool>()).prop_map(|(order, sections, crlf, has_final_newline)| {
        let body: String = order.iter().map(|at| sections[*at].as_str()).collect();
        let text = format!("# Ticket\n\nIntro\n\n{body}");
        let text = if has_final_newline { text } else { text.trim_end().to_string() };
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // DR-01
    #[test]
    fn a_status_change_in_any_ticket_alters_only_its_line(
        text in tickets(),
        status in proptest::sample::select(TicketStatus::ALL.to_vec()),
    ) {
        prop_assert_eq!(Ticket::read(text.clone()).into_text(), text.clone());
        assert_only_ticks(&text, status)?;
        let mut again = Ticket::read(text);
        again.set_status(status);
        let once = again.text().to_string();
        again.set_status(status);
        prop_assert_eq!(again.text(), &once);
    }

    // DR-01
    #[test]
    fn changes_to_any_ticket_are_read_back_and_nothing_is_lost(text in tickets(), count in 0_u16..3) {
        let mut ticket = Ticket::read(text.clone());
        let known = ticket.approaches().len();
        let failed = PastApproach { text: "Keep it all in memory".into(), decisions: vec!["DD-1-002".into()] };
        ticket.set_revisions(count);
        ticket.add_approach(&failed);
        ticket.log_revision("1 of 2", "- **Trigger**: circle");
        ticket.add_feedback(Feedback::DesignRevision, "- approved");
        let read = Ticket::read(ticket.text());
        prop_assert_eq!(read.revisions(), Ok(count));
        prop_assert_eq!(read.approaches().len(), known + 1);
        prop_assert_eq!(read.approaches().pop(), Some(failed));
        let crlf_count = |text: &str| text.matches("\r\n").count();
        prop_assert_eq!(crlf_count(ticket.text()) > 0, crlf_count(&text) > 0);
        if crlf_count(&text) > 0 {
            prop_assert_eq!(ticket.text().matches('\n').count(), crlf_count(ticket.text()));
        }
        for line in text.lines().filter(|line| !line.contains("Design Revision Count")) {
            prop_assert!(ticket.text().contains(line), "lost {:?}", line);
        }
    }
}
