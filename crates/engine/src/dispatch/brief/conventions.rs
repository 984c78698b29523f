//! The conventions of the repository that apply to the files that the dispatch is about.

use super::{BriefSection, BriefSources, PartList, background};
use crate::site::Trouble;

/// Adds the conventions for a role that sees the work tree.
pub fn add(sources: &BriefSources<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
    let conventions = &sources.job.site.pinned.conventions;
    if !sources.role.tree || conventions.files.is_empty() {
        return Ok(());
    }
    let files = background::files_at_hand(sources)?;
    for file in conventions.for_files(&files) {
        let name = file.path().replace('/', "-");
        let about = match file.paths.as_slice() {
            [path] if *path == name => format!("for {}", file.scope()),
            paths => format!("{}, for {}", paths.join(" and "), file.scope()),
        };
        parts.add(BriefSection::Conventions, &name, &about, file.text.clone());
    }
    Ok(())
}
