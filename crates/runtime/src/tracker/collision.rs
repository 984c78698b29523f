//! One id for two issues: made in two clones, each of which knew nothing of the other.

use super::of_tree;
use crate::git::{GitError, Repository};
use remand_documents::tracker::{Issue, IssueId, Tracker};

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

fn is_another(issue: &Issue, other: &Issue) -> bool {
    issue.title() != other.title() || issue.parent() != other.parent()
}
