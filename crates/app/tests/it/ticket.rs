//! The `ticket` workflow end to end: real files, real commits, rehearsed agents.

mod again;

use super::kills::{has_started, kill_at_each_point, output_unless_killed};
use super::place::Place;
use super::tickets::{
    self, FOLDER, PROPOSAL, SHIFT, TEXT, TICKET, agents, answer, circling, coded, design, dispatched,
    document, entry, failing, files, findings, judged, on_branch, place, reviewed, subjects, write,
};
use remand_kernel::Event;
use remand_ledger::RunId;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;

/// The prompt of a dispatch of the newest run.
fn prompt_of(place: &Place, phase: &str, nth: usize) -> String {
    let run = place.latest().run;
    let rows = place.reader().dispatches(&run).expect("dispatches");
    let row = rows.iter().filter(|row| row.phase == phase).nth(nth).expect("the dispatch");
    let folder = place.home().join("runs").join(&run.0).join("dispatches").join(&row.command);
    fs::read_to_string(folder.join("prompt.md")).expect("the prompt")
}

/// An input of a dispatch of the newest run.
fn input_of(place: &Place, phase: &str, nth: usize, name: &str) -> String {
    let run = place.latest().run;
    let rows = place.reader().dispatches(&run).expect("dispatches");
    let row = rows.iter().filter(|row| row.phase == phase).nth(nth).expect("the dispatch");
    place.brief_part(&run, &row.command, name).unwrap_or_else(|| panic!("no {name}"))
}

/// The reasons why dispatches of a phase were refused.
fn refusals(place: &Place, phase: &str) -> Vec<String> {
    let run = place.latest().run;
    let rows = place.reader().dispatches(&run).expect("dispatches");
    rows.into_iter().filter(|row| row.phase == phase).filter_map(|row| row.detail).collect()
}

fn gate(place: &Place) -> String {
    let shown = place.remand(&["gates"]);
    // The terminal wraps lines.
    shown.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn status_on_branch(place: &Place) -> Option<&'static str> {
    remand_documents::Ticket::read(on_branch(place, TICKET))
        .status()
        .map(remand_documents::TicketStatus::name)
}

// DR-01, DR-02, DR-03, DR-22
#[test]
fn the_ticket_on_the_branch_follows_the_phases_and_keeps_every_other_byte() {
    let place = place(TEXT);
    let shown = tickets::run(&place, &agents());
    assert_eq!(shown.code, 0, "{shown:?}");
    let date = place.git(&["log", "-1", "--format=%cs", &place.latest().branch]);
    let expected = TEXT
        .replace("- [ ] Design Complete", "- [x] Design Complete")
        .replace("- [ ] Ready for Implementation", "- [x] Ready for Implementation")
        .replace("- [ ] Implementation Complete", "- [x] Implementation Complete")
        .replace("- [ ] Test Writing Complete", "- [x] Test Writing Complete")
        .replace("- [ ] Quality Gate Passed", "- [x] Quality Gate Passed")
        .replace("- [ ] Approved", "- [x] Approved")
        .replace(
            "- **Started**: 2026-01-31\n",
            &format!("- **Started**: 2026-01-31\n- **Design**: `{FOLDER}/design.md`\n"),
        )
        .replace(
            "### Implementation Phase\n",
            &format!(
                "### Implementation Phase\n\n- **Attempts**: 1, the last on {}: `{FOLDER}/iteration-log.md`\n",
                date.trim()
            ),
        );
    assert_eq!(on_branch(&place, TICKET), expected);
    // The ticket in the user's checkout is unchanged.
    assert_eq!(fs::read_to_string(place.project().join(TICKET)).expect("the ticket"), TEXT);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    let order: Vec<String> =
        subjects(&place).into_iter().filter(|subject| subject.contains(" is ")).collect();
    let statuses = [
        "design: 0079_doubling is Design Complete — Awaiting Review",
        "impl: 0079_doubling is Ready for Implementation",
        "impl: 0079_doubling is Implementation Complete — Awaiting Test Writing",
        "impl: 0079_doubling is Test Writing Complete — Awaiting Quality Gate",
        "review: 0079_doubling is Quality Gate Passed — Awaiting Review",
        "review: 0079_doubling is Approved — Ready to Merge",
    ];
    let at = |status: &str| order.iter().position(|subject| subject == status);
    assert!(statuses.iter().all(|status| at(status).is_some()), "{order:?}");
    assert!(statuses.is_sorted_by_key(|status| at(status)), "{order:?}");
}

// DR-14
#[test]
fn without_a_trigger_the_revision_path_changes_nothing() {
    let with = place(TEXT);
    assert_eq!(tickets::run(&with, &agents()).code, 0);
    let without = place(TEXT);
    let workflow = without.write_outside("ticket.yaml", &without_revisions());
    let mut words = tickets::arguments(&without, &agents());
    words.extend(["--workflow".to_string(), workflow]);
    let shown = without.remand(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(dispatched(&with), dispatched(&without));
    assert_eq!(files(&with), files(&without));
    assert_eq!(subjects(&with), subjects(&without));
    let titles = |place: &Place| -> Vec<String> {
        let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
        rows.into_iter().map(|row| row.role).collect()
    };
    assert_eq!(titles(&with), titles(&without));
    assert!(!files(&with).keys().any(|name| name.contains("findings")));
}

/// The shipped workflow with the revision path deleted.
fn without_revisions() -> String {
    let text = fs::read_to_string(super::root().join("workflows/ticket.yaml")).expect("the workflow");
    let gone = ["look-back", "record", "revise", "findings", "no-findings", "tried-before", "revision-gate"];
    let mut kept = String::new();
    let mut skipping = false;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let bare = line.split('#').next().unwrap_or_default().trim();
        if !bare.is_empty() && indent <= 2 {
            skipping = indent == 2 && bare.strip_suffix(':').is_some_and(|name| gone.contains(&name));
        }
        if !skipping {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept.replace("to findings", "fail")
        .replace("no-result:        fail except findings", "no-result:        fail")
        .replace("  revision: 2 per subject", "  # revision: 2 per subject")
        .replace("options: [another-round, revise, close]", "options: [another-round, close]")
        .replace(", revise: fail, close", ", close")
        .replace("    may-read: [findings]\n", "")
        .lines()
        .filter(|line| !line.contains("no revise unless") && !line.contains("never more than"))
        .collect::<Vec<_>>()
        .join("\n")
}

// DR-05, DR-07, DR-08, DR-09, DR-19
#[test]
fn the_third_red_gate_blocks_the_ticket_and_asks_a_human_with_the_full_context() {
    let place = place(TEXT);
    let shown = tickets::run(&place, &failing());
    assert_eq!(shown.code, 5, "{shown:?}");
    assert_eq!(status_on_branch(&place), Some("Implementation Blocked — Design Revision Needed"));
    let report = on_branch(&place, &format!("{FOLDER}/quality-gate-report.md"));
    let (_, recommended) = report.split_once("## Design Revision Recommendation").expect("a recommendation");
    for part in [
        "**Status**: DESIGN REVISION RECOMMENDED",
        "**Consecutive Failures**: 3",
        "**Pattern**: failed every time: finished",
        "**Hypothesis**: 3 attempts with different hypotheses",
        "**Recommended Action**:",
    ] {
        assert!(recommended.contains(part), "{part}: {report}");
    }
    let stated = on_branch(&place, &format!("{FOLDER}/implementation-findings-1.md"));
    for part in [
        "**Produced by**: quality gate",
        "**Trigger**: third quality gate failure in a row",
        "**Revision**: 1 of 2",
        "`INCORRECT_INVARIANT`",
        "| `sums/bits.py` | discard |",
        "- [x] No, the flaw is in the design itself",
        "| 1 | A plain shift doubles whole numbers. | quality gate: failed: the check `finished` fails; quality gate: \
         Fractions fail. | `sums/bits.py`, `sums/double.py` |",
        "| 2 | Rounding down before it keeps fractions out. | quality gate: failed",
        "| 3 | The raw bytes of the machine word can be moved. | quality gate: failed",
    ] {
        assert!(stated.contains(part), "{part}: {stated}");
    }
    let asked = gate(&place);
    for part in [
        "trigger: third quality gate failure in a row",
        "classification: INCORRECT_INVARIANT: The design holds that every number is whole.",
        "root cause: DD-0079-001: Every number is whole.",
        "proposed change: Compute the sum of the value with itself. (DD-0079-001 only)",
        "revision: 1 of 2",
        "check: The root cause is credible",
        "check: The change is a delta",
        "check: The oscillation check is complete",
        "check: The revision is within the cap: yes, 1 of 2",
        "check: Prototype after the revision",
        "--set prototype-wanted",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let last = subjects(&place).pop().expect("a commit");
    assert!(
        last.starts_with("impl: quality gate failed three times in a row, implementation findings 1"),
        "{last}"
    );
    assert!(!dispatched(&place).contains(&"revise".to_string()));
    // Only a human answers: resuming changes nothing.
    place.remand(&["resume"]);
    assert!(gate(&place).contains("Revise the design as the findings propose?"));
    assert!(!dispatched(&place).contains(&"revise".to_string()));
}

// DR-04
#[test]
fn the_findings_are_written_by_the_agent_of_the_phase_that_got_stuck() {
    let place = place(TEXT);
    let settings = fs::read_to_string(place.project().join("remand.toml")).expect("settings");
    place.write("remand.toml", &format!("{settings}\n[roles.coder]\nmodel = \"deep\"\n"));
    place.git(&["commit", "-q", "-a", "-m", "A model for the implementer"]);
    assert_eq!(tickets::run(&place, &circling()).code, 5);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let models = |phase: &str| -> BTreeSet<Option<String>> {
        rows.iter().filter(|row| row.phase == phase).map(|row| row.model.clone()).collect()
    };
    assert_eq!(models("implement"), BTreeSet::from([Some("deep".to_string())]));
    assert_eq!(models("findings"), models("implement"));
}

// DR-04, DR-10, DR-13, DR-17, DR-18, DR-19, DR-20, DR-24
#[test]
fn an_approved_revision_reaches_ticket_architect_and_implementer() {
    let place = place(TEXT);
    assert_eq!(tickets::run(&place, &circling()).code, 5);
    let before = dispatched(&place);
    assert_eq!(before.last().map(String::as_str), Some("findings"), "{before:?}");
    assert_eq!(before.iter().filter(|phase| *phase == "implement").count(), 3);
    let shown = answer(&place, &["approve", "--note", "Mind negative numbers."]);
    assert_eq!(shown.code, 0, "{shown:?}");
    // One commit has the count, the approach that failed, the note and the status.
    let branch = place.latest().branch;
    let commit =
        place.git(&["log", "--reverse", "--format=%H", "-S", "Design Revision Count", &branch, "--", TICKET]);
    let commit = commit.lines().next().expect("a commit");
    let change = place.git(&["show", "--format=%s", commit]);
    for part in [
        "design: revision 1 from implementation findings",
        "+- **Design Revision Count**: 1",
        &format!("+  - {SHIFT} [DD-0079-001]"),
        "ada: approve: Mind negative numbers.",
        "-- [x] Implementation Blocked — Design Revision Needed",
    ] {
        assert!(change.contains(part), "{part}: {change}");
    }
    let at_commit = place.git(&["show", &format!("{commit}:{TICKET}")]);
    let status = remand_documents::Ticket::read(at_commit).status();
    assert_eq!(status, Some(remand_documents::TicketStatus::ReadyForDesign));
    // The architect gets the notes, the approaches and the findings.
    assert!(input_of(&place, "revise", 0, "revision-gate.md").contains("Mind negative numbers."));
    assert!(input_of(&place, "revise", 0, "failed-approaches.md").contains(SHIFT));
    assert!(input_of(&place, "revise", 0, "findings.yaml").contains("INCORRECT_INVARIANT"));
    // The implementer continues with the tree of the last attempt, without the discarded parts.
    let log = input_of(&place, "implement", 3, "iteration-log.md");
    assert!(log.contains("### Attempt 3 (design 1,") && log.contains("It was the rounding"), "{log}");
    assert!(input_of(&place, "implement", 3, "findings.yaml").contains("discard"));
    assert!(input_of(&place, "implement", 3, "design.yaml").contains("Addition is exact"));
    assert!(on_branch(&place, "seen.txt").contains("a << 1"));
    let tree = files(&place);
    assert!(!tree.contains_key("bits-seen.txt") && !tree.contains_key("sums/bits.py"), "{:?}", tree.keys());
    let kept = on_branch(&place, &format!("{FOLDER}/iteration-log.md"));
    for part in [
        "### Attempt 4 (design 2,",
        "**Hypothesis**: Addition keeps fractions.",
        "quality gate: failed: the check `finished` fails",
        "Attempt 3 produced exactly the same files as attempt 1.",
        "-    return a << 1  # FIXME\n+    return int(a) \\* 2",
    ] {
        let part = part.replace("\\*", "*");
        assert!(kept.contains(&part), "{part}: {kept}");
    }
    assert!(!kept.contains("design-review"), "{kept}");
    let ticket = on_branch(&place, TICKET);
    let (_, logged) = ticket.split_once("### Design Revision Phase 1 of 2").expect("an entry");
    for part in [
        "**Revision Number**: 1 of 2",
        "**Trigger**: circle detected",
        "**Findings Artifact**: `docs/designs/0079_doubling/implementation-findings-1.md`",
        "**Human Gate Decision**: Approved by ada",
        &format!("**Approach Ruled Out**: {SHIFT}"),
        "**Delta Design Changes**: Approach, DD-0079-001",
        "**Warm-Start Preserved**: `tests/test_double.py`",
        "**Prototype Required**: No",
        "**Notes**: Mind negative numbers.",
    ] {
        assert!(logged.contains(part), "{part}: {logged}");
    }
    let findings = on_branch(&place, &format!("{FOLDER}/implementation-findings-1.md"));
    let check = findings.split("## Oscillation Check").nth(1).expect("a section");
    let boxes = "- [x] No: Nobody added yet.\n- [ ] Yes\n";
    assert!(check.contains(boxes), "{check}");
    let at = |text: &str| ticket.find(text).unwrap_or(usize::MAX);
    assert!(at("### Implementation Phase") < at("### Design Revision Phase"));
    assert!(at("### Feedback on Implementation") < at("### Feedback on Design Revision"));
    // Both designs are in the history of the branch.
    let versions = place.git(&["log", "--format=%h", &branch, "--", &format!("{FOLDER}/design.md")]);
    assert_eq!(versions.lines().count(), 2, "{versions}");
    assert!(subjects(&place).iter().any(|subject| subject.starts_with("design: revision 1 of the design")));
}

// DR-13
#[test]
fn a_revision_that_is_not_a_delta_is_refused_like_other_bad_output() {
    let place = place(TEXT);
    let notes = tickets::revised();
    let (_, notes) = notes.split_once("One test.\n").expect("notes");
    let more = design(tickets::ADD, "Addition is exact for fractions.", "Another module.", notes);
    let less = design(tickets::ADD, "A shift is quick.", "A module for each sum.", notes);
    let rehearsal = [
        circling(),
        entry(json!({ "role": "architect/revise", "attempt": 1 }), &[], document(&more)),
        entry(json!({ "role": "architect/revise", "attempt": 2 }), &[], document(&less)),
    ]
    .concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    let shown = answer(&place, &["approve"]);
    assert_eq!(shown.code, 4, "{shown:?}");
    let reported = refusals(&place, "revise");
    assert!(reported[0].contains("`DD-0079-002` changed, but the findings do not cite it"), "{reported:?}");
    assert!(reported[1].contains("the findings cite `DD-0079-001`, but it did not change"), "{reported:?}");
    assert!(prompt_of(&place, "revise", 1).contains("the findings do not cite it"));
}

// DR-23
#[test]
fn a_design_without_approach_or_decisions_is_refused() {
    let place = place(TEXT);
    let bare = "# Design\n\n## Decisions\n\n### DD-0080-001: Alien\n- **Affects**: all\n";
    let rehearsal =
        [agents(), entry(json!({ "role": "architect", "attempt": 1 }), &[], document(bare))].concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 0);
    let reported = refusals(&place, "design").join("; ");
    for part in
        ["a section `Approach`", "no rationale, no alternatives", "begins with `DD-0079-`", "`DD-0079-001`"]
    {
        assert!(reported.contains(part), "{part}: {reported}");
    }
}

// DR-06, DR-07, DR-19
#[test]
fn not_within_the_design_three_times_leads_to_the_findings_of_the_reviewer() {
    let place = place(TEXT);
    let finding = json!([{
        "id": "R1", "severity": "major", "category": "correctness", "place": "sums/double.py:2",
        "claim": "Numbers beyond the width of a machine word come out wrong", "evidence": "double(2**64)",
    }]);
    let text = |round: u32| format!("def double(a):\n    return a + a  # try {round}\n");
    let mut rehearsal = agents();
    for round in 1..=3 {
        rehearsal.push_str(&entry(
            json!({ "role": "coder", "round": round }),
            &[write("sums/double.py", &text(round))],
            coded(["Plain addition.", "Another order of the terms.", "A wider word."][round as usize - 1]),
        ));
        let mut again = finding.clone();
        if round > 1 {
            again[0]["repeats"] = json!("R1");
        }
        rehearsal.push_str(&entry(
            json!({ "role": "impl-reviewer", "round": round }),
            &[],
            reviewed("not-within-design", again),
        ));
    }
    let wrong = findings("implementer", "circle", 2, PROPOSAL);
    let right = findings("reviewer", "changes-requested", 1, PROPOSAL);
    rehearsal.push_str(&entry(json!({ "role": "findings", "attempt": 1 }), &[], wrong));
    rehearsal.push_str(&entry(json!({ "role": "findings" }), &[], right));
    let shown = tickets::run(&place, &rehearsal);
    assert_eq!(shown.code, 5, "{shown:?}");
    let reported = refusals(&place, "findings").join("; ");
    for part in [
        "payload.revision: expected 1, found 2",
        "payload.produced_by: expected `reviewer`, found `implementer`",
        "payload.trigger: expected `changes-requested`, found `circle`",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let last = subjects(&place).pop().expect("a commit");
    assert!(last.starts_with("review: changes requested three times for one finding"), "{last}");
}

// DR-21
#[test]
fn six_requests_for_different_changes_lead_to_a_human_and_not_to_findings() {
    let place = place(TEXT);
    let claims = [
        "Negative numbers come out positive",
        "The module has no summary for readers",
        "A text argument is not refused",
        "The name hides that it doubles",
        "An overflow is not reported anywhere",
        "Callers cannot pass a fraction object",
        "The example in the comment is wrong",
    ];
    let hypotheses = [
        "Plain addition.",
        "A summary helps.",
        "Texts raise an error.",
        "Another name.",
        "Overflow raises.",
        "Fractions are numbers.",
        "The example is corrected.",
    ];
    let mut rehearsal = agents();
    for (round, (claim, hypothesis)) in (1..).zip(claims.iter().zip(hypotheses)) {
        let text = format!("def double(a):\n    return a + a  # {hypothesis}\n");
        let fits = json!({ "role": "coder", "round": round });
        rehearsal.push_str(&entry(fits, &[write("sums/double.py", &text)], coded(hypothesis)));
        let finding = json!([{
            "id": format!("R{round}"), "severity": "major", "category": "correctness",
            "place": { "file": "sums/double.py", "symbol": format!("part {round}") },
            "claim": claim, "evidence": "Line 2.",
        }]);
        let fits = json!({ "role": "impl-reviewer", "round": round });
        rehearsal.push_str(&entry(fits, &[], reviewed("changes-requested", finding)));
    }
    let shown = tickets::run(&place, &rehearsal);
    assert_eq!(shown.code, 5, "{shown:?}");
    assert!(
        gate(&place).contains("The attempts do not lead to an approved implementation."),
        "{}",
        gate(&place)
    );
    let phases = dispatched(&place);
    assert_eq!(phases.iter().filter(|phase| *phase == "implement").count(), 7, "{phases:?}");
    assert!(!phases.contains(&"findings".to_string()), "{phases:?}");
    let log = on_branch(&place, &format!("{FOLDER}/iteration-log.md"));
    assert!(log.contains("### Attempt 7 (design 1,") && log.contains(claims[6]), "{log}");
}

// DR-08
#[test]
fn without_valid_findings_the_run_stops_blocked_and_asks_for_guidance() {
    let place = place(TEXT);
    let mut hollow = findings("implementer", "circle", 1, PROPOSAL);
    hollow["root_cause"]["section"] = json!("something else entirely");
    let rehearsal =
        [circling(), entry(json!({ "role": "findings", "phase": "findings" }), &[], hollow)].concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    assert!(gate(&place).contains("There are no valid findings. What now?"));
    assert!(refusals(&place, "findings")[0].contains("the id of a decision or the title of a section"));
    assert_eq!(status_on_branch(&place), Some("Implementation Blocked — Design Revision Needed"));
}

// DR-11, DR-22
#[test]
fn at_the_cap_only_close_is_left_and_the_ticket_says_why() {
    let used = TEXT.replace(
        "- **Author**: Dana\n",
        "- **Author**: Dana\n- **Design Revision Count**: 2 (max 2)\n- **Previous Design Approaches**: [A table of all sums; A lookup on the network]\n",
    );
    let place = place(&used);
    let third = findings("implementer", "circle", 3, PROPOSAL);
    let rehearsal =
        [circling(), entry(json!({ "role": "findings", "phase": "findings" }), &[], third)].concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    let asked = gate(&place);
    assert!(asked.contains("not offered: approve (budget revision is used up)"), "{asked}");
    assert!(asked.contains("re-scope the ticket"), "{asked}");
    assert!(asked.contains("revision: none left: 2 of 2 are used"), "{asked}");
    assert!(asked.contains("The revision is within the cap: no, none left"), "{asked}");
    assert!(!asked.contains("3 of 2") && !asked.contains("rototype"), "{asked}");
    let refused = answer(&place, &["approve"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let ticket = on_branch(&place, TICKET);
    assert!(ticket.contains("- **Design Revision Count**: 2 (max 2)"), "{ticket}");
    assert!(ticket.contains("**Notes**: needs re-scoping"), "{ticket}");
    assert_eq!(status_on_branch(&place), Some("Implementation Blocked — Design Revision Needed"));
    let shown = answer(&place, &["close"]);
    assert_eq!(shown.code, 4, "{shown:?}");
    assert_eq!(status_on_branch(&place), Some("Closed"));
    assert!(!dispatched(&place).contains(&"revise".to_string()));
}

// DR-22
#[test]
fn a_branch_in_use_at_the_end_of_the_run_gets_its_documents_once_it_is_free() {
    let place = place(TEXT);
    assert_eq!(tickets::run(&place, &circling()).code, 5);
    let (run, branch) = (place.latest().run.0, place.latest().branch);
    place.git(&["switch", "-q", &branch]);
    let shown = answer(&place, &["close"]);
    assert_eq!(shown.code, 4, "{shown:?}");
    assert_ne!(status_on_branch(&place), Some("Closed"), "nobody's checkout changes under them");
    let reported = shown.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        reported.contains("is checked out in") && reported.contains(&format!("remand resume {run}")),
        "{reported}"
    );
    place.git(&["switch", "-q", "-"]);
    let shown = place.remand(&["resume", &run]);
    assert_eq!(shown.code, 4, "{shown:?}");
    assert_eq!(status_on_branch(&place), Some("Closed"));
    let over = place.remand(&["resume", &run]);
    assert!(over.code == 1 && over.err.contains("is over"), "{over:?}");
}

// DR-22
#[test]
fn a_ticket_that_is_closed_or_merged_is_not_worked_on() {
    for status in ["Merged / Complete", "Closed"] {
        let text = TEXT.replace("- [ ] Merged / Complete", &format!("- [x] {status}"));
        let shown = tickets::run(&place(&text), &agents());
        assert_eq!(shown.code, 1, "{shown:?}");
        assert!(shown.err.contains(&format!("the ticket is {status}")), "{}", shown.err);
        assert!(shown.err.contains("remove the tick from"), "{}", shown.err);
    }
}

// DR-19, CORE-09
#[test]
fn tickets_with_the_same_name_in_two_folders_are_refused_before_they_share_documents() {
    let place = place(TEXT);
    let other = "archive/2025/0079_doubling.md";
    place.write(other, "# Notes on doubling, no ticket\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Notes"]);
    assert_eq!(tickets::run(&place, &agents()).code, 0);
    place.write(other, TEXT);
    place.git(&["commit", "-qam", "Another ticket"]);
    let shown = tickets::run(&place, &agents());
    assert_eq!(shown.code, 1, "{shown:?}");
    let what = format!("{TICKET} and {other} would share the folder {FOLDER}");
    assert!(shown.err.contains(&what), "{}", shown.err);
    assert!(shown.err.contains(&format!("git mv {other} NAME")), "{}", shown.err);
    assert_eq!(place.reader().runs().expect("runs").len(), 1);
}

// DR-11
#[test]
fn spending_of_an_earlier_run_counts_although_its_branch_is_not_merged() {
    let place = place(TEXT);
    let again =
        findings("implementer", "circle", 2, "Look the result up in a table that is made at build time.");
    let mut rehearsal = circling();
    for round in 4..=6 {
        let text = ["a ** 1", "a ^ 1", "a ** 1"][round - 4];
        let text = format!("def double(a):\n    return {text}  # FIXME\n");
        let hypotheses =
            ["Powers double.", "Toggling the last bit doubles.", "The powers were right after all."];
        rehearsal.push_str(&entry(
            json!({ "role": "coder", "phase": "implement", "round": round }),
            &[write("sums/double.py", &text)],
            coded(hypotheses[round - 4]),
        ));
    }
    rehearsal.push_str(&entry(json!({ "role": "findings", "round": 2 }), &[], again));
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    let refused = tickets::run(&place, &agents());
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains(&format!("is already working on {TICKET}")), "{}", refused.err);
    let shown = answer(&place, &["approve"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    assert!(gate(&place).contains("revision: 2 of 2"), "{}", gate(&place));
    assert_eq!(answer(&place, &["close"]).code, 4);
    let first = place.latest().run;
    // The ticket in the checkout does not mention it yet.
    assert_eq!(tickets::run(&place, &again::completing_revision()).code, 0);
    let second = place.latest().run;
    assert_ne!(first, second);
    let journal = place.reader().journal(&second, 0).expect("the journal");
    let Event::Started(start) = &journal[0].event else { panic!("{:?}", journal[0].event) };
    assert_eq!(start.spent, [("revision".to_string(), 1)]);
    assert_eq!(start.approaches.iter().map(|approach| approach.text.as_str()).collect::<Vec<_>>(), [SHIFT]);
    assert!(on_branch(&place, TICKET).contains("- **Design Revision Count**: 1"));
}

// DR-12
#[test]
fn a_proposal_that_failed_before_is_blocked_until_a_human_removes_it_from_the_list() {
    let tried = TEXT.replace(
        "- **Author**: Dana\n",
        &format!("- **Author**: Dana\n- **Previous Design Approaches**:\n  - {PROPOSAL} [DD-0079-001]\n"),
    );
    let place = place(&tried);
    assert_eq!(tickets::run(&place, &circling()).code, 5);
    let asked = gate(&place);
    assert!(asked.contains("The proposed approach failed before."), "{asked}");
    assert!(
        asked.contains("The proposed approach repeats previous approach 1 (word similarity 100 %)"),
        "{asked}"
    );
    assert!(asked.contains(&format!("approach 1 failed: {PROPOSAL}")), "{asked}");
    assert_eq!(dispatched(&place).iter().filter(|phase| *phase == "findings").count(), 2);
    let reported = input_of(&place, "findings", 1, "trigger.yaml");
    assert!(reported.contains("repeats previous approach 1"), "{reported}");
    let run = place.latest().run;
    let listed = place.remand(&["ticket", "approaches", &run.0]);
    assert!(listed.out.contains(PROPOSAL), "{listed:?}");
    assert_eq!(place.remand(&["ticket", "approaches", &run.0, "--remove", "7"]).code, 1);
    let removed = place.remand(&["ticket", "approaches", &run.0, "--remove", "1"]);
    assert_eq!((removed.code, removed.out.contains("no approach has failed")), (0, true), "{removed:?}");
    assert!(removals(&place, &run).contains(&"ada".to_string()));
    let shown = answer(&place, &["removed"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    assert!(gate(&place).contains("Revise the design as the findings propose?"));
    assert!(!on_branch(&place, TICKET).contains(PROPOSAL));
    assert!(on_branch(&place, TICKET).contains("- **Author**: Dana\n"));
}

// DR-12, DR-19
#[test]
fn a_refused_revision_is_kept_beside_the_design_that_stays_the_base_of_the_next_delta() {
    let place = place(TEXT);
    let notes = tickets::revised();
    let (_, notes) = notes.split_once("One test.\n").expect("notes");
    let refused = design(SHIFT, "A shift of the exponent is exact.", "A module for each sum.", notes);
    let again = findings("implementer", "circle", 2, "Multiply the value by the number two.");
    let rehearsal = [
        circling(),
        entry(json!({ "role": "architect/revise", "round": 1 }), &[], document(&refused)),
        entry(json!({ "role": "findings", "round": 2 }), &[], again),
    ]
    .concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    let shown = answer(&place, &["approve"]);
    assert_eq!(shown.code, 5, "{shown:?}");
    assert!(gate(&place).contains("Revise the design as the findings propose?"));
    let (current, kept) = (format!("{FOLDER}/design.md"), format!("{FOLDER}/design-refused-1.md"));
    assert!(on_branch(&place, &current).contains("A shift is quick."), "{}", on_branch(&place, &current));
    assert!(on_branch(&place, &kept).contains("A shift of the exponent is exact."));
    assert!(on_branch(&place, TICKET).contains(&format!("- **Refused Design**: `{kept}`")));
    let shown = answer(&place, &["approve"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let base = input_of(&place, "revise", 1, "design.yaml");
    assert!(base.contains("A shift is quick.") && !base.contains("exponent"), "{base}");
    assert!(on_branch(&place, &current).contains("Addition is exact for fractions."));
    assert!(on_branch(&place, &kept).contains("A shift of the exponent is exact."));
}

// DR-07
#[test]
fn findings_add_notes_to_the_recorded_attempts_and_no_further_attempts() {
    let place = place(TEXT);
    let mut invented = findings("implementer", "circle", 1, PROPOSAL);
    let row = json!({ "number": 9, "hypothesis": "Magic.", "outcome": "It failed.", "files": ["magic.py"] });
    invented["iterations"].as_array_mut().expect("rows").push(row);
    let rehearsal = [circling(), entry(json!({ "role": "findings", "attempt": 1 }), &[], invented)].concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    let reported = refusals(&place, "findings").join("; ");
    assert!(
        reported.contains("payload.iterations[1].number: expected one of `1`, `2`, `3`, found 9"),
        "{reported}"
    );
    let page = on_branch(&place, &format!("{FOLDER}/implementation-findings-1.md"));
    let (_, table) = page.split_once("## What Was Attempted").expect("a table");
    for part in [
        "| 1 | A plain shift doubles whole numbers. | ",
        "implementer: Fractions fail. |",
        "| 2 | Rounding keeps fractions out. | ",
        "| 3 | It was the rounding that was wrong. | Attempt 3 produced exactly the same files as attempt 1.",
    ] {
        assert!(table.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Magic"), "{page}");
}

/// The people who removed approaches.
fn removals(place: &Place, run: &RunId) -> Vec<String> {
    let journal = place.reader().journal(run, 0).expect("the journal");
    let by = journal.into_iter().filter_map(|row| match row.event {
        Event::ApproachRemoved { by, .. } => Some(by),
        _ => None,
    });
    by.collect()
}

// DR-15
#[test]
fn a_revised_design_is_accepted_only_with_all_five_criteria_judged_and_met() {
    let place = place(TEXT);
    let rehearsal = [
        circling(),
        entry(
            json!({ "role": "design-reviewer", "round": 2, "attempt": 1 }),
            &[],
            reviewed("approved", json!([])),
        ),
        entry(json!({ "role": "design-reviewer", "round": 2, "attempt": 2 }), &[], judged("not-met")),
    ]
    .concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    assert_eq!(answer(&place, &["approve"]).code, 4);
    let reported = refusals(&place, "design-review");
    assert!(
        reported[0].contains("a judgement of every criterion") && reported[0].contains("decision-citation"),
        "{reported:?}"
    );
    assert!(reported[1].contains("a verdict that matches the criteria"), "{reported:?}");
}

// DR-16
#[test]
fn a_prototype_follows_a_revision_only_if_the_human_asked_for_it() {
    let place = place(TEXT);
    assert_eq!(tickets::run(&place, &circling()).code, 5);
    let shown = answer(&place, &["approve", "--set", "prototype-wanted"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let phases = dispatched(&place);
    let at = |phase: &str| phases.iter().rposition(|other| other == phase);
    assert!(at("revise") < at("prototype") && at("prototype") < at("implement"), "{phases:?}");
    assert!(on_branch(&place, TICKET).contains("**Prototype Required**: Yes"));
    assert!(on_branch(&place, &format!("{FOLDER}/prototype.md")).contains("1.5 + 1.5 is 3.0."));
}

// DR-22
#[test]
fn in_interactive_mode_the_design_waits_and_the_note_reaches_ticket_and_architect() {
    let place = place(TEXT);
    let changed =
        design(SHIFT, "A shift is quick, and whole numbers are refused first.", "A module for each sum.", "");
    let rehearsal = [agents(), entry(json!({ "role": "architect/amend" }), &[], document(&changed))].concat();
    let words = tickets::arguments(&place, &rehearsal);
    let words: Vec<&str> =
        words.iter().map(|word| if word == "--autonomous" { "--interactive" } else { word }).collect();
    assert_eq!(place.remand(&words).code, 5);
    assert_eq!(status_on_branch(&place), Some("Design Complete — Awaiting Review"));
    assert_eq!(answer(&place, &["changes", "--note", "Say what happens to text."]).code, 5);
    assert!(input_of(&place, "amend", 0, "design-gate.md").contains("Say what happens to text."));
    let ticket = on_branch(&place, TICKET);
    assert!(
        ticket.contains("### Feedback on Design\n\n- ") && ticket.contains("Say what happens to text."),
        "{ticket}"
    );
    assert_eq!(answer(&place, &["close"]).code, 4);
    assert_eq!(status_on_branch(&place), Some("Closed"));
}

// DR-01
#[test]
fn a_dispatch_fails_if_its_agent_writes_the_ticket_or_the_design() {
    let place = place(TEXT);
    let rehearsal = [
        agents(),
        entry(
            json!({ "role": "coder", "attempt": 1 }),
            &[write(TICKET, "# mine\n"), write(&format!("{FOLDER}/design.md"), "# mine\n")],
            coded("The ticket is easier to change."),
        ),
    ]
    .concat();
    assert_eq!(tickets::run(&place, &rehearsal).code, 0);
    let reported = refusals(&place, "implement").join("; ");
    assert!(reported.contains(TICKET) && reported.contains("design.md"), "{reported}");
    assert!(!on_branch(&place, TICKET).contains("# mine"));
}

// DR-20, CORE-09
#[test]
fn an_unreadable_count_is_reported_before_anything_runs() {
    let place = place(&TEXT.replace("- **Author**: Dana", "- **Design Revision Count**: two"));
    let shown = tickets::run(&place, &agents());
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(
        shown.err.contains("tickets/0079_doubling.md: line 16: `Design Revision Count` is `two`"),
        "{}",
        shown.err
    );
    assert!(shown.err.contains("write a number there"), "{}", shown.err);
}

// DR-22
#[test]
fn a_ticket_is_merged_when_the_current_branch_contains_the_work_or_a_human_confirms_it() {
    let place = place(TEXT);
    assert_eq!(tickets::run(&place, &agents()).code, 0);
    let early = place.remand(&["ticket", "merged"]);
    assert_eq!(early.code, 1, "{early:?}");
    place.git(&["merge", "-q", &place.latest().branch]);
    let shown = place.remand(&["ticket", "merged"]);
    assert_eq!(
        (shown.code, shown.out.as_str()),
        (0, "tickets/0079_doubling.md: Merged / Complete\n"),
        "{shown:?}"
    );
    let change = place.git(&["diff", "-U0", "--", TICKET]);
    assert_eq!(change.matches("\n+- [x] Merged / Complete").count(), 1, "{change}");
    assert_eq!(
        change.lines().filter(|line| line.starts_with('+') || line.starts_with('-')).count(),
        4,
        "{change}"
    );
    let reported = place.remand(&["ticket", "show", TICKET]);
    let words: Vec<&str> = reported.out.split_whitespace().collect();
    assert!(words.join(" ").contains("the current branch contains it"), "{reported:?}");
}

// DR-22
#[test]
fn a_ticket_is_merged_although_the_branch_of_its_run_is_gone() {
    let place = place(TEXT);
    assert_eq!(tickets::run(&place, &agents()).code, 0);
    let (base, branch) = (place.latest().base, place.latest().branch);
    let messages = place.git(&["log", "--format=%B", &format!("{base}..{branch}")]);
    place.git(&["merge", "-q", "--squash", &branch]);
    place.git(&["commit", "-q", "-m", "Doubling (#12)"]);
    place.git(&["branch", "-q", "-D", &branch]);
    let unknown = place.remand(&["ticket", "merged", TICKET]);
    assert_eq!((unknown.code, unknown.err.contains("use `--by-hand`")), (1, true), "{unknown:?}");
    place.git(&["commit", "-q", "--amend", "-m", &format!("Doubling (#12)\n\n{messages}")]);
    let shown = place.remand(&["ticket", "merged", TICKET]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let reported = place.remand(&["ticket", "show", TICKET]);
    let words: Vec<&str> = reported.out.split_whitespace().collect();
    assert!(words.join(" ").contains("the current branch contains it"), "{reported:?}");
}

#[test]
fn tickets_are_written_shown_and_corrected_from_the_command_line() {
    let place = Place::new();
    let made = place.remand(&["ticket", "new", "Sessions expire after an hour"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.out.contains("wrote tickets/0001_sessions_expire_after_an_hour.md"), "{}", made.out);
    let again = place.remand(&["ticket", "new", "Other", "--json"]);
    assert!(again.out.contains("\"tickets/0002_other.md\""), "{}", again.out);
    assert_eq!(place.remand(&["ticket", "new", "Other", "--id", "0002"]).code, 1);
    assert_eq!(place.remand(&["ticket", "new", "Other", "--id", "../x"]).code, 1);
    let file = "tickets/0001_sessions_expire_after_an_hour.md";
    insta::assert_snapshot!("show", place.remand(&["ticket", "show", file]).out);
    insta::assert_snapshot!("show-json", place.remand(&["ticket", "show", file, "--json"]).out);
    let path = place.project().join(file);
    let text = fs::read_to_string(&path).expect("the ticket");
    fs::write(&path, text.replace("Approaches**: []", "Approaches**: [One; Two]")).expect("written");
    let listed = place.remand(&["ticket", "approaches", file, "--remove", "1"]);
    assert_eq!(listed.out, "1. Two\n");
    let corrected = fs::read_to_string(&path).expect("the ticket");
    assert!(corrected.contains("ada: removed approach 1 from the list"), "{corrected}");
    let none = place.remand(&["ticket", "show"]);
    assert_eq!((none.code, none.err.contains("no run has worked on a ticket yet")), (1, true), "{none:?}");
    let missing = place.remand(&["ticket", "show", "nowhere.md"]);
    assert_eq!((missing.code, missing.err.contains("cannot be read")), (1, true), "{missing:?}");
}

// DR-09, DR-11
#[test]
fn the_demonstration_shows_a_revision_and_the_cap() {
    let place = Place::new();
    let folder = place.write_outside("demo", "");
    fs::remove_file(&folder).expect("only its name is needed");
    let mut command = place.command(&["demo", "ticket", "--into", &folder]);
    command.env_remove("REMAND_STATE_DIR");
    let shown = super::place::shown(command);
    assert_eq!(shown.code, 0, "{shown:?}");
    for part in [
        "circle",
        "answers for you: approve",
        "The first people pay the odd cents.",
        "not offered: approve (budget revision is used up)",
        "answers for you: close",
        "Approved — Ready to Merge",
        "Keep two decimals of every rate.",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
}

#[test]
fn every_part_of_the_command_has_a_help() {
    for part in ["new", "show", "approaches", "merged"] {
        insta::assert_snapshot!(format!("help-{part}"), super::shown(&["ticket", part, "--help"]));
    }
}

/// The number of runs that share the points, as in `crash.rs`.
const RUNS: u64 = 12;

/// Finishes the run with a revision, with a kill at this point and at the `RUNS`-th of each process that resumes it.
fn run_with_kills(first: u64) -> (Place, u64) {
    let place = place(TEXT);
    let begin = tickets::arguments(&place, &circling());
    let (mut kills, mut point, mut answered) = (0, first, false);
    loop {
        let begun = has_started(&place);
        let run = if begun { place.latest().run.0 } else { String::new() };
        let words: Vec<&str> = match (begun, answered) {
            (false, _) => begin.iter().map(String::as_str).collect(),
            (true, true) if !place.reader().open_gates().expect("gates").is_empty() => {
                vec!["answer", &run, "approve"]
            }
            (true, _) => vec!["resume"],
        };
        let Some(output) = output_unless_killed(&place, &words, Some(point)) else {
            (kills, point) = (kills + 1, RUNS);
            continue;
        };
        match output.status.code() {
            Some(0) if place.latest().stage.is_over() => return (place, kills),
            // The run waits for an answer.
            Some(0 | 5) => answered = true,
            // The answer was recorded before the kill.
            Some(1) if String::from_utf8_lossy(&output.stderr).contains("already has an answer") => {
                answered = false
            }
            other => panic!("{other:?} at {first}, {kills} kills: {output:?}"),
        }
    }
}

// CORE-04, DR-10
#[test]
fn a_run_on_a_ticket_that_is_killed_at_any_point_writes_the_same_documents() {
    let calm = place(TEXT);
    assert_eq!(tickets::run(&calm, &circling()).code, 5);
    assert_eq!(answer(&calm, &["approve"]).code, 0);
    let expected = (files(&calm), subjects(&calm), dispatched(&calm));
    let kills = kill_at_each_point(RUNS, |first| {
        let (place, kills) = run_with_kills(first);
        assert_eq!(subjects(&place), expected.1, "first at {first}, {kills} kills");
        assert_eq!(dispatched(&place), expected.2, "first at {first}, {kills} kills");
        assert!(files(&place) == expected.0, "first at {first}, {kills} kills: other documents");
        super::three_tasks::assert_sound(&place);
        kills
    });
    assert!(kills > 2 * RUNS, "{kills} kills");
}
