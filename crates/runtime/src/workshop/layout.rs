//! What people find in a run's folder: its artifacts as plain files, readable ones beside typed ones, and the bundle.

use super::{Settings, Site, Trouble};
use crate::contract::{self, SchemaId};
use crate::{bundle, papers};
use remand_ledger::RunId;
use std::fs;
use std::path::Path;

/// Where the artifacts lie.
const ARTIFACTS: &str = "artifacts";

/// Says why the papers of a run are not on its branch; it is there until they are.
const NOT_BROUGHT: &str = "not-on-branch.txt";

/// Says what of a run that is over is missing in its folder, and why; it is there until nothing is.
const NOT_LAID_OUT: &str = "not-laid-out.txt";

/// Tells whether the folder of a run holds what people will want to read of it, and its branch the papers.
pub fn is_laid_out(folder: &Path) -> bool {
    folder.join(ARTIFACTS).is_dir()
        && folder.join(bundle::FILE).is_file()
        && not_laid_out(folder).is_none()
        && not_brought(folder).is_none()
}

/// Why the papers of a run that is over are not on its branch, if they are not.
pub fn not_brought(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(NOT_BROUGHT)).ok()
}

/// Why the folder of a run that is over lacks something, if it does.
pub fn not_laid_out(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(NOT_LAID_OUT)).ok()
}

/// Lays everything out when a run is over, as far as it goes, and writes down what is missing. All of it can be made again
/// from the ledger, so trouble here is no trouble of the run.
pub fn finish(settings: &Settings, run: &RunId, site: Result<&Site, Trouble>) {
    let folder = settings.home.run(run);
    // The page of a run under way is no page of its end.
    let _ = fs::remove_file(folder.join(bundle::FILE));
    let laid_out = site.and_then(|site| {
        tell(settings, &folder.join(NOT_BROUGHT), papers::bring_home(site));
        let page = site.reader().and_then(|reader| bundle::write(&reader, run, &folder));
        let _ = fs::remove_dir_all(folder.join("scratch"));
        crate::dispatch::forget_sessions(&folder);
        let documents = crate::rounds::documents::finish(site);
        page.map(drop).and(documents).and(artifacts(site))
    });
    tell(settings, &folder.join(NOT_LAID_OUT), laid_out);
}

/// Leaves word of trouble, or takes it away.
fn tell(settings: &Settings, file: &Path, done: Result<(), Trouble>) {
    let _ = match done {
        Ok(()) => fs::remove_file(file),
        Err(trouble) => fs::write(file, settings.redactor.redact(&trouble.detail).as_bytes()),
    };
}

/// Every version of every artifact, as `artifacts/plan@2.yaml`, with its rendering beside it (EP-34).
fn artifacts(site: &Site) -> Result<(), Trouble> {
    let reader = site.reader()?;
    let folder = site.folder().join("artifacts.new");
    crate::home::private_folder(&folder)?;
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
            let tasks = crate::dispatch::document(&String::from_utf8_lossy(&bytes));
            for (name, text) in tasks.iter().flat_map(crate::dispatch::tasks_as_files) {
                fs::write(folder.join(name.replace('.', &format!("@{}.", row.version))), text)?;
            }
        }
        let schema = site.pinned.roles.get(&row.by).and_then(|role| role.result.parse::<SchemaId>().ok());
        let value = crate::dispatch::document(&String::from_utf8_lossy(&bytes));
        if let (Some(schema), Some(value), "yaml") = (schema, value, row.format.as_str()) {
            fs::write(folder.join(format!("{stem}.md")), contract::render(&value, schema))?;
        }
    }
    let place = site.folder().join(ARTIFACTS);
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::rename(&folder, &place)?;
    Ok(())
}
