//! The embedded demonstrations.

use super::demonstration::Demonstration;
use crate::embedded::{self, DEMO, EmbeddedFile};
use remand_terminal::CommandFailure;
use remand_workflow::diagnostic::nearest;
use std::collections::BTreeSet;

/// The default demonstration.
pub const DEFAULT_DEMO: &str = "feature";

/// A demonstration with its name.
#[derive(Clone, Debug)]
pub struct ChosenDemo {
    pub name: &'static str,
    pub demonstration: Demonstration,
}

/// All names, the default first.
pub fn names() -> Vec<&'static str> {
    let folders: BTreeSet<&str> =
        DEMO.iter().filter_map(|file| file.path.split_once('/')).map(|(folder, _)| folder).collect();
    let mut names: Vec<&str> = folders.into_iter().collect();
    names.sort_by_key(|name| *name != DEFAULT_DEMO);
    names
}

pub fn all() -> Result<Vec<ChosenDemo>, CommandFailure> {
    names().into_iter().map(find).collect()
}

/// The demonstration with this name.
pub fn find(name: &str) -> Result<ChosenDemo, CommandFailure> {
    let known = names().into_iter().find(|known| *known == name).ok_or_else(|| unknown(name))?;
    let text = embedded::text(DEMO, &format!("{known}/demo.yaml")).unwrap_or_default();
    Ok(ChosenDemo { name: known, demonstration: Demonstration::parse(text, known)? })
}

impl ChosenDemo {
    /// The files of the sample project.
    pub fn files(&self) -> Vec<EmbeddedFile> {
        embedded::files_below(DEMO, &format!("{}/project", self.name))
    }

    /// The rehearsals and other files next to the project.
    pub fn siblings(&self) -> Vec<EmbeddedFile> {
        let mut files = embedded::files_below(DEMO, self.name);
        files.retain(|file| !file.path.starts_with("project/"));
        files
    }
}

fn unknown(name: &str) -> CommandFailure {
    let hint = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`? `remand demo --list` shows all"),
        None => "`remand demo --list` shows all".to_string(),
    };
    CommandFailure::user(format!("no demonstration is named `{name}`"), hint)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use crate::demo::DemoStep;
    use remand_agents::rehearsal::Script;

    #[test]
    fn every_folder_is_a_demonstration_with_valid_rehearsals() {
        for choice in all().expect("all of them") {
            let demonstration = &choice.demonstration;
            assert!(!choice.files().is_empty(), "{}: a project", choice.name);
            assert!(!demonstration.closer.is_empty(), "{}: commands for a closer look", choice.name);
            let mut runs = 0;
            for step in &demonstration.steps {
                let DemoStep::Run(run) = step else { continue };
                runs += 1;
                let file = choice
                    .siblings()
                    .into_iter()
                    .find(|file| file.path == run.rehearsal)
                    .expect("the rehearsal");
                Script::parse(file.text, &run.rehearsal).expect("a rehearsal");
            }
            assert!(runs > 0, "{}: a run", choice.name);
        }
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest_one() {
        let failure = find("featur").expect_err("no such demonstration");
        assert!(failure.hint.contains("`feature`"), "{}", failure.hint);
        assert_eq!(names().first(), Some(&DEFAULT_DEMO));
    }
}
