//! The members of a workspace, and how a check runs for only some of them.

use super::action::CheckAction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The word of a command that is replaced by the members.
pub const MEMBERS: &str = "{members}";

/// How a check runs for some members of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Members {
    /// The command, with `MEMBERS` as one of its words.
    pub command: Vec<String>,
    pub naming: Naming,
    /// Names of the files that list members and their dependencies.
    pub manifests: Vec<String>,
    pub all: Vec<Member>,
}

/// How a command names members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Naming {
    /// Each member follows this option.
    Flag(String),
    /// All members are in one word, separated by commas.
    List,
}

/// One member. All paths are relative to the root of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Member {
    /// The name in commands.
    pub name: String,
    /// The folders of the member, except those of other members inside them.
    #[serde(rename = "own")]
    pub folders: Vec<String>,
    /// Paths outside its folders that its files name.
    pub reads: Vec<String>,
    /// The names of the members that it depends on.
    #[serde(rename = "leans")]
    pub dependencies: Vec<String>,
}

impl Members {
    /// A command whose members are not known yet.
    pub(super) fn of_command(words: &[&str], naming: Naming) -> Members {
        let command = words.iter().map(|word| word.to_string()).collect();
        Members { command, naming, manifests: Vec::new(), all: Vec::new() }
    }

    /// Whether a file lists the members.
    pub(super) fn is_manifest(&self, file: &str) -> bool {
        let name = Path::new(file).file_name();
        self.manifests.iter().any(|manifest| name.is_some_and(|name| name == manifest.as_str()))
    }

    /// The command for the members that a change of these files can affect: members that own or read a file, and all that
    /// depend on them. `None` if the change affects all members, or if the affected members are unknown. `matters` says
    /// whether a file outside all members can affect them.
    pub(super) fn narrowed(&self, changed: &[String], matters: impl Fn(&str) -> bool) -> Option<CheckAction> {
        let mut affected: BTreeSet<&str> = BTreeSet::new();
        for file in changed {
            let readers = self.all.iter().filter(|member| is_in_any(&member.reads, file));
            let readers: Vec<&str> = readers.map(|member| member.name.as_str()).collect();
            match self.owner(file) {
                Some(member) => affected.extend([member.name.as_str()].into_iter().chain(readers)),
                None if readers.is_empty() && !matters(file) => {}
                None => return None,
            }
        }
        let mut known = 0;
        while known < affected.len() {
            known = affected.len();
            let dependents = self
                .all
                .iter()
                .filter(|member| member.dependencies.iter().any(|name| affected.contains(name.as_str())));
            let dependents: Vec<&str> = dependents.map(|member| member.name.as_str()).collect();
            affected.extend(dependents);
        }
        let is_part = !affected.is_empty() && affected.len() < self.all.len();
        is_part.then(|| self.command_for(&affected))
    }

    fn owner(&self, file: &str) -> Option<&Member> {
        let depth = |member: &Member| {
            let around = member.folders.iter().filter(|folder| Path::new(file).starts_with(folder));
            around.map(|folder| folder.len()).max()
        };
        self.all.iter().filter(|member| depth(member).is_some()).max_by_key(|member| depth(member))
    }

    fn command_for(&self, names: &BTreeSet<&str>) -> CheckAction {
        let arguments: Vec<String> = match &self.naming {
            Naming::Flag(flag) => names.iter().flat_map(|name| [flag.clone(), name.to_string()]).collect(),
            Naming::List => vec![names.iter().copied().collect::<Vec<_>>().join(",")],
        };
        let words = self
            .command
            .iter()
            .flat_map(|word| if word == MEMBERS { arguments.clone() } else { vec![word.clone()] });
        CheckAction::Argv(words.collect())
    }
}

fn is_in_any(paths: &[String], file: &str) -> bool {
    paths.iter().any(|path| Path::new(file).starts_with(path))
}
