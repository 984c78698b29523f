//! The only code that parses facts from the English of old journals. Since format 12, journals have these facts in
//! fields of `Facts`. The strings below must not change when messages do.

use crate::fact::{Delivery, MalformedCause, Note, NoteKind};

/// The tree in the reason of a task's baseline row: `on tree 0123456789ab, which the task began on`.
pub(super) fn baseline_tree(reason: &str) -> Option<&str> {
    let (_, rest) = reason.rsplit_once("on tree ")?;
    let tree = rest.strip_suffix(", which the task began on")?;
    (!tree.is_empty() && tree.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(tree)
}

/// What happened to the work, according to the notes of the operation.
pub(super) fn delivery(notes: &[Note]) -> Option<Delivery> {
    notes.iter().rev().find_map(|note| match note.kind {
        NoteKind::Decision => parse_committed(&note.text),
        NoteKind::Warning => parse_not_committed(&note.text),
        NoteKind::Degradation
        | NoteKind::Violation
        | NoteKind::Concern
        | NoteKind::Lesson
        | NoteKind::Regression
        | NoteKind::Proposal
        | NoteKind::Unenforced
        | NoteKind::Mapped
        | NoteKind::Interrupted => None,
    })
}

/// `committed COMMIT on BRANCH`, with `, as PATH` if the work is one document.
fn parse_committed(text: &str) -> Option<Delivery> {
    let (commit, rest) = text.strip_prefix("committed ")?.split_once(" on ")?;
    let (branch, file) = match rest.split_once(", as ") {
        Some((branch, file)) => (branch, Some(file.to_string())),
        None => (rest, None),
    };
    Some(Delivery::Committed {
        commit: commit.to_string(),
        branch: branch.to_string(),
        file,
        changed: Vec::new(),
    })
}

fn parse_not_committed(text: &str) -> Option<Delivery> {
    if let Some(reason) = text.strip_prefix("not committed: ") {
        return Some(Delivery::Refused { reason: reason.to_string(), hook: None });
    }
    if text == "nothing was changed, so there is nothing to commit or to take" {
        return Some(Delivery::Nothing);
    }
    let rest = text.strip_prefix("nothing was committed for you (")?;
    let (reason, rest) = rest.rsplit_once("); take the work with `")?;
    let (take, discard) = rest.strip_suffix('`')?.split_once("`, or discard it with `")?;
    Some(Delivery::HandedOver {
        reason: reason.to_string(),
        take: take.to_string(),
        discard: discard.to_string(),
        hook: None,
        changed: Vec::new(),
    })
}

/// Why a result was refused, according to the detail of the failure.
pub(super) fn malformed_cause(detail: &str) -> MalformedCause {
    if detail.contains("the result in its file, or as the last fenced block of the answer") {
        MalformedCause::Missing
    } else if detail.contains("characters of it") {
        MalformedCause::TooShort
    } else if detail.contains("a gap that was assigned") && !detail.contains("; ") {
        MalformedCause::UnassignedGap
    } else {
        MalformedCause::WrongForm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery_from(kind: NoteKind, text: &str) -> Option<Delivery> {
        delivery(&[Note::new(kind, text.to_string())])
    }

    #[test]
    fn an_old_note_about_a_commit_yields_commit_branch_and_file() {
        let commit = delivery_from(NoteKind::Decision, "committed 0123abcd on remand/r1");
        let (id, branch) = ("0123abcd".to_string(), "remand/r1".to_string());
        assert_eq!(
            commit,
            Some(Delivery::Committed {
                commit: id.clone(),
                branch: branch.clone(),
                file: None,
                changed: Vec::new()
            })
        );
        let document = delivery_from(NoteKind::Decision, "committed 0123abcd on remand/r1, as docs/spec.md");
        let file = Some("docs/spec.md".to_string());
        assert_eq!(document, Some(Delivery::Committed { commit: id, branch, file, changed: Vec::new() }));
        assert_eq!(delivery_from(NoteKind::Warning, "committed 0123abcd on remand/r1"), None);
        assert_eq!(
            delivery_from(NoteKind::Decision, "the tracker is committed as 0123abcd on remand/r1"),
            None
        );
    }

    #[test]
    fn old_notes_about_uncommitted_work_yield_the_reason() {
        let refused = delivery_from(NoteKind::Warning, "not committed: a commit hook refused");
        assert_eq!(
            refused,
            Some(Delivery::Refused { reason: "a commit hook refused".to_string(), hook: None })
        );
        let text = "nothing was committed for you (confidence low); take the work with `git merge x`, or discard it \
                    with `git branch -D x`";
        let handed_over = Delivery::HandedOver {
            reason: "confidence low".to_string(),
            take: "git merge x".to_string(),
            discard: "git branch -D x".to_string(),
            hook: None,
            changed: Vec::new(),
        };
        assert_eq!(delivery_from(NoteKind::Warning, text), Some(handed_over));
        let nothing = "nothing was changed, so there is nothing to commit or to take";
        assert_eq!(delivery_from(NoteKind::Warning, nothing), Some(Delivery::Nothing));
        assert_eq!(delivery_from(NoteKind::Warning, "the checkout has 3 uncommitted changes"), None);
    }

    #[test]
    fn an_old_baseline_row_names_the_first_digits_of_its_tree() {
        assert_eq!(baseline_tree("on tree 0123456789ab, which the task began on"), Some("0123456789ab"));
        assert_eq!(
            baseline_tree("flaky; on tree 0123456789ab, which the task began on"),
            Some("0123456789ab")
        );
        assert_eq!(baseline_tree("it hangs on tree walks, which the task began on"), None);
        assert_eq!(baseline_tree(""), None);
    }

    #[test]
    fn an_old_complaint_about_a_result_yields_its_cause() {
        let missing =
            "expected the result in its file, or as the last fenced block of the answer; found nothing";
        assert_eq!(malformed_cause(missing), MalformedCause::Missing);
        assert_eq!(
            malformed_cause("expected at least 100 characters of it, found 16"),
            MalformedCause::TooShort
        );
        assert_eq!(
            malformed_cause("payload.gaps: a gap that was assigned: GAP-1"),
            MalformedCause::UnassignedGap
        );
        assert_eq!(
            malformed_cause("a: wrong; payload.gaps: a gap that was assigned"),
            MalformedCause::WrongForm
        );
    }
}
