//! The files for people in the folder of a run: its artifacts, each with a readable rendering, and the bundle.

use crate::bundle;
use crate::outputs;
use crate::site::{Settings, Site, Trouble};
use crate::ticket;
use remand_contract::SchemaId;
use remand_ledger::RunId;
use std::fs;
use std::path::Path;

/// The folder of the artifacts.
const ARTIFACTS: &str = "artifacts";

/// The file that records why the documents of a run are not on its branch. It is removed once they are.
const NOT_ON_BRANCH: &str = "not-on-branch.txt";

/// The file that records what is missing in the folder of a run that is over. It is removed once nothing is missing.
const NOT_LAID_OUT: &str = "not-laid-out.txt";

/// Whether the folder of a run contains all its files for people, and the branch all its documents.
pub fn is_laid_out(folder: &Path) -> bool {
    folder.join(ARTIFACTS).is_dir()
        && folder.join(bundle::FILE).is_file()
        && missing_from_folder(folder).is_none()
        && not_on_branch(folder).is_none()
}

/// Why the documents of a run that is over are not on its branch; `None` if they are.
pub fn not_on_branch(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(NOT_ON_BRANCH)).ok()
}

/// Why files are missing in the folder of a run that is over; `None` if nothing is missing.
pub fn missing_from_folder(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(NOT_LAID_OUT)).ok()
}

/// Writes the files for people when a run is over, and records what is missing. All of this can be repeated later, so a
/// failure here is not a failure of the run.
pub fn finish(settings: &Settings, run: &RunId, site: Result<&Site, Trouble>) {
    let folder = settings.home.run(run);
    // The bundle's page is older than the end of the run: without it, the folder counts as incomplete until a new page is
    // written. If it cannot be removed, it is overwritten.
    let _ = fs::remove_file(folder.join(bundle::FILE));
    let result = site.and_then(|site| {
        report(settings, &folder.join(NOT_ON_BRANCH), ticket::finish_branch(site));
        let page = site.reader().and_then(|reader| bundle::write(&reader, run, &folder));
        // A leftover folder only takes up space.
        let _ = remand_git::remove(&folder.join("scratch"));
        crate::dispatch::forget_sessions(&folder);
        let documents = crate::rounds::documents::finish(site);
        // `and` evaluates all operands: if one part fails, the others are still written. The first failure is recorded.
        page.map(drop).and(documents).and(artifacts(site))
    });
    report(settings, &folder.join(NOT_LAID_OUT), result);
}

/// Records a failure in a file, or removes the file of an earlier failure.
fn report(settings: &Settings, file: &Path, done: Result<(), Trouble>) {
    // The next `remand resume` of the run tries again.
    let _ = match done {
        Ok(()) => fs::remove_file(file),
        Err(trouble) => fs::write(file, settings.redactor.redact(&trouble.detail).as_bytes()),
    };
}

/// Writes every version of every artifact, such as `artifacts/plan@2.yaml`, with its rendering next to it.
fn artifacts(site: &Site) -> Result<(), Trouble> {
    let reader = site.reader()?;
    let folder = site.folder().join("artifacts.new");
    remand_git::private_folder(&folder)?;
    let names: std::collections::BTreeSet<String> =
        reader.artifacts(&site.run)?.into_iter().map(|row| row.name).collect();
    for row in names
        .iter()
        .map(|name| reader.artifact_versions(&site.run, name))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
    {
        let part = if row.part.is_empty() { String::new() } else { format!("-{}", row.part) };
        let stem = format!("{}{part}@{}", row.name, row.version);
        let bytes = reader.blob(row.blob)?;
        fs::write(folder.join(format!("{stem}.{}", row.format)), &bytes)?;
        if row.name == "tasks" {
            let tasks = crate::artifacts::document(&String::from_utf8_lossy(&bytes));
            for (name, text) in tasks.iter().flat_map(crate::dispatch::tasks_as_files) {
                fs::write(folder.join(name.replace('.', &format!("@{}.", row.version))), text)?;
            }
        }
        let schema = site.pinned.roles.get(&row.by).and_then(|role| role.result.parse::<SchemaId>().ok());
        let value = crate::artifacts::document(&String::from_utf8_lossy(&bytes));
        // A verdict document has no payload: it is not a result, only the summary of one.
        let value = value.filter(|value| value.get("payload").is_some());
        if let (Some(schema), Some(value), "yaml") = (schema, value, row.format.as_str()) {
            fs::write(folder.join(format!("{stem}.md")), remand_contract::rendered(schema, &value))?;
        }
    }
    if let Some(text) = outputs::decisions(&reader, &site.run)? {
        fs::write(site.folder().join(outputs::DECISIONS), text)?;
    }
    let target = site.folder().join(ARTIFACTS);
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::rename(&folder, &target)?;
    Ok(())
}
