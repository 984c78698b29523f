//! What people find in the folder of a run: its artifacts as plain files, each with a readable rendering, and the bundle.

use crate::bundle;
use crate::site::{Settings, Site, Trouble};
use crate::ticket;
use remand_contract::SchemaId;
use remand_ledger::RunId;
use std::fs;
use std::path::Path;

/// The folder of the artifacts.
const ARTIFACTS: &str = "artifacts";

/// Says why the documents of a run are not on its branch. It exists until they are.
const NOT_ON_BRANCH: &str = "not-on-branch.txt";

/// Says what is missing in the folder of a run that is over, and why. It exists until nothing is missing.
const NOT_LAID_OUT: &str = "not-laid-out.txt";

/// Whether the folder of a run holds everything that people will read, and its branch the documents.
pub fn is_laid_out(folder: &Path) -> bool {
    folder.join(ARTIFACTS).is_dir()
        && folder.join(bundle::FILE).is_file()
        && missing_from_folder(folder).is_none()
        && not_on_branch(folder).is_none()
}

/// Why the documents of a run that is over are not on its branch, if they are not.
pub fn not_on_branch(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(NOT_ON_BRANCH)).ok()
}

/// Why something is missing in the folder of a run that is over, if something is.
pub fn missing_from_folder(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(NOT_LAID_OUT)).ok()
}

/// Lays out everything that it can when a run is over, and writes down what is missing. All of it can be made again from
/// the ledger, so a failure here is not a failure of the run.
pub fn finish(settings: &Settings, run: &RunId, site: Result<&Site, Trouble>) {
    let folder = settings.home.run(run);
    // The page was made while the run was not over.
    // If it cannot be removed, it is overwritten.
    let _ = fs::remove_file(folder.join(bundle::FILE));
    let laid_out = site.and_then(|site| {
        report(settings, &folder.join(NOT_ON_BRANCH), ticket::finish_branch(site));
        let page = site.reader().and_then(|reader| bundle::write(&reader, run, &folder));
        // What is left there takes space and nothing else.
        let _ = fs::remove_dir_all(folder.join("scratch"));
        crate::dispatch::forget_sessions(&folder);
        let documents = crate::rounds::documents::finish(site);
        page.map(drop).and(documents).and(artifacts(site))
    });
    report(settings, &folder.join(NOT_LAID_OUT), laid_out);
}

/// Writes down a failure, or removes what was written about an earlier one.
fn report(settings: &Settings, file: &Path, done: Result<(), Trouble>) {
    // The next `remand resume` of the run tries again.
    let _ = match done {
        Ok(()) => fs::remove_file(file),
        Err(trouble) => fs::write(file, settings.redactor.redact(&trouble.detail).as_bytes()),
    };
}

/// Every version of every artifact, such as `artifacts/plan@2.yaml`, with its rendering next to it.
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
        if let (Some(schema), Some(value), "yaml") = (schema, value, row.format.as_str()) {
            fs::write(folder.join(format!("{stem}.md")), remand_contract::render(&value, schema))?;
        }
    }
    let place = site.folder().join(ARTIFACTS);
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::rename(&folder, &place)?;
    Ok(())
}
