//! What a run changed, file by file; a file is read when it is opened.

use super::context::RunPage;
use super::diff;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_git::{CommitId, GitError, Repository};
use remand_ledger::view::PastView;
use remand_terminal::amount;
use std::collections::BTreeSet;

/// The difference of one file.
struct ChangedFile {
    name: String,
    added: u64,
    removed: u64,
    text: String,
}

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let Some(files) = files(page)? else {
        return Ok(
            html! { section.panel { p.empty { @if page.past.is_some() { "The steps of this run are gone. " } @else { "The run has no work tree and no branch any more. " } a href=(page.link("artifacts")) { "Artifacts" } " has the reported changes." } } },
        );
    };
    let numbered: Vec<(usize, &ChangedFile)> = files.iter().enumerate().collect();
    let part = page.part("changes", &numbered);
    Ok(html! {
        section.panel aria-label="Changed files" {
            @if files.is_empty() { p.empty { "Nothing is changed." } }
            @else { p { (amount::counted(files.len() as u64, "file")) ", compared with the commit that the run started from" } }
            @for (_, file) in part.rows.iter().filter(|_| page.is_document) {
                details.file { summary { (heading(file)) } (diff::whole(&diff::of_patch(&file.text))) }
            }
            @for (number, file) in part.rows.iter().filter(|_| !page.is_document) {
                details.file data-src=(page.link(&format!("changes/{number}"))) {
                    summary { (heading(file)) }
                    div.lazy { "Reading…" }
                }
            }
            (part.links)
        }
    })
}

fn heading(file: &ChangedFile) -> Markup {
    html! { code { (words::text(&file.name)) } " " span.plus { "+" (file.added) } " " span.minus { "−" (file.removed) } }
}

/// The difference of one file, from a line on.
pub fn one(page: &RunPage<'_>, number: &str) -> Result<Markup, PageProblem> {
    let missing = || PageProblem::missing("the run changed no such file");
    let number: usize = number.parse().map_err(|_| missing())?;
    let file = files(page)?.unwrap_or_default().into_iter().nth(number).ok_or_else(missing)?;
    let from = page.query.number("from").and_then(|from| usize::try_from(from).ok()).unwrap_or(0);
    let query = page.query.clone();
    let more = |from: usize| {
        format!("{}{}", page.address(&format!("changes/{number}")), query.with("from", &from.to_string()))
    };
    Ok(diff::show(&diff::of_patch(&file.text), from, more))
}

/// The commit that the run had come to by an earlier event; its base if nothing was recorded yet.
fn past_tip(
    page: &RunPage<'_>,
    repository: &Repository,
    base: &CommitId,
    past: &PastView,
) -> Result<CommitId, PageProblem> {
    let dispatches = page.dispatches()?.into_iter().map(|row| (row.command, row.seq));
    let operations = page.reader.operations(&page.run)?.into_iter().map(|row| (row.command, row.seq));
    let issued: BTreeSet<String> = dispatches
        .chain(operations)
        .filter(|(_, seq)| *seq <= past.seq)
        .map(|(command, _)| command)
        .collect();
    let states = repository.main_line(base, &page.run.0)?;
    let tip = states.into_iter().find(|state| issued.contains(&state.command));
    Ok(tip.map_or_else(|| base.clone(), |state| state.commit))
}

/// The changed files; `None` if neither work tree nor branch is left.
fn files(page: &RunPage<'_>) -> Result<Option<Vec<ChangedFile>>, PageProblem> {
    let Some(checkout) = page.repository.checkout.as_deref().filter(|path| path.is_dir()) else {
        return Ok(None);
    };
    let repository = Repository::discover(checkout)?;
    let row = &page.view.row;
    let base: CommitId = row.base.parse()?;
    let main = repository.commit(&format!("refs/remand/{}/main", row.run));
    let main = match (&page.past, main) {
        (Some(past), Ok(_)) => Ok(past_tip(page, &repository, &base, past)?),
        // Without the main line only the branch with its one commit is left, which came last.
        (Some(_), Err(_)) => return Ok(None),
        (None, main) => main,
    };
    let tip = match main.or_else(|_| repository.commit(&format!("refs/heads/{}", row.branch))) {
        Ok(tip) => tip,
        Err(GitError::UnknownRevision { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let patch = repository.patch(&repository.tree_of(&base)?, &repository.tree_of(&tip)?)?;
    let patch = page.redactor().redact_bytes(&patch).into_owned();
    Ok(Some(split(&String::from_utf8_lossy(&patch))))
}

fn split(patch: &str) -> Vec<ChangedFile> {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut is_head = true;
    for line in patch.split_inclusive('\n') {
        // Lines of a changed file begin with a space, plus, minus or backslash.
        if let Some(names) = line.strip_prefix("diff --git ") {
            let names = names.trim_end();
            let name = names.rsplit_once(" b/").map_or(names, |(_, name)| name);
            files.push(ChangedFile { name: name.to_string(), added: 0, removed: 0, text: String::new() });
            is_head = true;
        }
        let Some(file) = files.last_mut() else { continue };
        is_head &= !line.starts_with("@@");
        if !is_head {
            file.added += u64::from(line.starts_with('+'));
            file.removed += u64::from(line.starts_with('-'));
        }
        file.text.push_str(line);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_split_into_files_with_their_counts() {
        let patch = "diff --git a/one b/one\n--- a/one\n+++ b/one\n@@ -1 +1,2 @@\n-x\n+y\n+z\ndiff --git a/a b/c.rs b/a b/c.rs\nnew file mode 100644\n";
        let files: Vec<(String, u64, u64)> =
            split(patch).into_iter().map(|file| (file.name, file.added, file.removed)).collect();
        assert_eq!(files, [("one".to_string(), 2, 1), ("c.rs".to_string(), 0, 0)]);
    }
}
