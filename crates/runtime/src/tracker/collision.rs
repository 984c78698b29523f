//! One id for two issues: made in two clones, each of which knew nothing of the other.

use super::of_tree;
use crate::git::{GitError, Repository};
use remand_documents::tracker::{Issue, IssueId, Tracker};
use std::collections::BTreeSet;

/// An issue here whose id another branch has given to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub issue: IssueId,
    pub title: String,
    /// What the other branch calls by this id.
    pub other_title: String,
    /// As in `origin/main`.
    pub branch: String,
}

/// The issues of a checkout whose ids other branches gave to other issues since they parted.
pub fn collisions(repository: &Repository, here: &Tracker) -> Result<Vec<Collision>, GitError> {
    let head = repository.head()?.commit;
    let mut found: Vec<Collision> = Vec::new();
    for branch in repository.branches()?.into_iter().filter(|branch| branch.commit != head) {
        let there = of_tree(repository, &repository.tree_of(&branch.commit)?)?;
        let suspects: Vec<&Issue> = here
            .issues()
            .filter(|issue| there.issue(issue.id()).is_some_and(|other| is_another(issue, other)))
            .filter(|issue| found.iter().all(|known| known.issue != *issue.id()))
            .collect();
        if suspects.is_empty() {
            continue;
        }
        // What both have from before is one issue, however it was edited since.
        let before = match repository.merge_base(&head, &branch.commit)? {
            Some(commit) => of_tree(repository, &repository.tree_of(&commit)?)?,
            None => Tracker::default(),
        };
        for issue in suspects.into_iter().filter(|issue| before.issue(issue.id()).is_none()) {
            found.push(Collision {
                issue: issue.id().clone(),
                title: issue.title(),
                other_title: there.issue(issue.id()).map(Issue::title).unwrap_or_default(),
                branch: branch.name.clone(),
            });
        }
    }
    Ok(found)
}

/// Two issues, and not one that was called otherwise or moved since: those have most of their words in common.
fn is_another(issue: &Issue, other: &Issue) -> bool {
    let is_renamed = issue.title() != other.title() || issue.parent() != other.parent();
    is_renamed && !is_alike(&said(issue), &said(other))
}

fn is_alike(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> bool {
    one.intersection(other).count() * 2 > one.len().max(other.len())
}

/// The lines that an issue says itself: no front matter, no headings, no list of others.
fn said(issue: &Issue) -> BTreeSet<&str> {
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

    fn issue(title: &str, parent: &str, about: &str) -> Issue {
        let text = format!(
            "---\nstatus: Todo\nparent: {parent}\n---\n\n# ABC-5: {title}\n\n{about}\n\n## Acceptance criteria\n\n- [ ] AC-1: {about} works\n"
        );
        Issue::read("ABC-5".parse().unwrap(), text)
    }

    // OT-24
    #[test]
    fn an_issue_that_was_called_otherwise_or_moved_is_still_the_same() {
        let before = issue("Round totals", "ABC-1", "Totals are rounded to cents.");
        assert!(!is_another(&before, &issue("Round all totals", "ABC-1", "Totals are rounded to cents.")));
        assert!(!is_another(&before, &issue("Round totals", "ABC-2", "Totals are rounded to cents.")));
        assert!(is_another(&before, &issue("Ship carts", "ABC-1", "Carts are shipped at night.")));
        assert!(!is_another(&before, &issue("Round totals", "ABC-1", "Whatever it says now.")));
    }
}
