//! Finds collisions: two different issues with the same id, created in two clones.

use super::read_tree;
use remand_documents::tracker::{IssueKey, Tracker, TrackerIssue};
use remand_git::{GitError, Repository};
use std::collections::BTreeSet;

/// An issue whose id belongs to a different issue on another branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub issue: IssueKey,
    pub title: String,
    /// The title of the issue on the other branch.
    pub other_title: String,
    /// The other branch, such as `origin/main`.
    pub branch: String,
}

/// Finds issues of a checkout whose ids were given to different issues on other branches after the branches diverged.
pub fn collisions(repository: &Repository, here: &Tracker) -> Result<Vec<Collision>, GitError> {
    let head = repository.head()?.commit;
    let mut found: Vec<Collision> = Vec::new();
    for branch in repository.branches()?.into_iter().filter(|branch| branch.commit != head) {
        let there = read_tree(repository, &repository.tree_of(&branch.commit)?)?;
        let suspects: Vec<&TrackerIssue> = here
            .issues()
            .filter(|issue| there.issue(issue.id()).is_some_and(|other| is_different(issue, other)))
            .filter(|issue| found.iter().all(|known| known.issue != *issue.id()))
            .collect();
        if suspects.is_empty() {
            continue;
        }
        // An issue that is in the merge base is the same issue on both branches, even if it was edited since.
        let before = match repository.merge_base(&head, &branch.commit)? {
            Some(commit) => read_tree(repository, &repository.tree_of(&commit)?)?,
            None => Tracker::default(),
        };
        for issue in suspects.into_iter().filter(|issue| before.issue(issue.id()).is_none()) {
            found.push(Collision {
                issue: issue.id().clone(),
                title: issue.title(),
                other_title: there.issue(issue.id()).map(TrackerIssue::title).unwrap_or_default(),
                branch: branch.name.clone(),
            });
        }
    }
    Ok(found)
}

/// Whether these are two different issues. A renamed or moved issue keeps most of its lines.
fn is_different(issue: &TrackerIssue, other: &TrackerIssue) -> bool {
    let is_renamed = issue.title() != other.title() || issue.parent() != other.parent();
    is_renamed && !is_similar(&body_lines(issue), &body_lines(other))
}

fn is_similar(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> bool {
    one.intersection(other).count() * 2 > one.len().max(other.len())
}

/// The lines of an issue, except front matter, headings, quotes and lines with links.
fn body_lines(issue: &TrackerIssue) -> BTreeSet<&str> {
    let text = issue.text();
    let front = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---").map(|(front, _)| front));
    let body = front.map_or(text, |front| &text["---".len() + front.len() + "\n---".len()..]);
    let lines = body.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '>']) && !line.contains("](")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn issue(title: &str, parent: &str, about: &str) -> TrackerIssue {
        let text = format!(
            "---\nstatus: Todo\nparent: {parent}\n---\n\n# ABC-5: {title}\n\n{about}\n\n## Acceptance criteria\n\n- [ ] AC-1: {about} works\n"
        );
        TrackerIssue::read("ABC-5".parse().unwrap(), text)
    }

    // OT-24
    #[test]
    fn a_renamed_or_moved_issue_is_still_the_same() {
        let before = issue("Round totals", "ABC-1", "Totals are rounded to cents.");
        assert!(!is_different(&before, &issue("Round all totals", "ABC-1", "Totals are rounded to cents.")));
        assert!(!is_different(&before, &issue("Round totals", "ABC-2", "Totals are rounded to cents.")));
        assert!(is_different(&before, &issue("Ship carts", "ABC-1", "Carts are shipped at night.")));
        assert!(!is_different(&before, &issue("Round totals", "ABC-1", "Whatever it says now.")));
    }
}
