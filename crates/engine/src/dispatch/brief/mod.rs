//! The brief of a dispatch: everything that its agent is given, in parts.
//!
//! The kernel's law decides which earlier results belong to it; this module puts them into words, with the documents,
//! the change and the evidence that the phase reads.

mod assembly;
mod background;
mod conventions;
mod documents;
mod evidence;
mod history;
mod review;
mod rounds;
#[cfg(test)]
mod routes_tests;
mod ticket;
mod words;

use crate::artifacts::content;
use crate::pinned::PinnedRole;
use crate::red_tests;
use crate::site::{Job, LaneTree, Trouble};
use crate::ticket::TicketRun;
use assembly::{Assembly, BriefStock, WordSources};
use documents::BriefDocuments;
use evidence::RunEvidence;
use history::{RunHistory, Utterance};
use remand_contract::SchemaId;
use remand_kernel::brief::{Brief as Law, shows_change};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::ContractId;
use remand_ledger::Reader;
use remand_ledger::query::CheckFilter;
use review::Difference;
use words::Narrator;

pub use documents::task_files;
pub use rounds::RoundInputs;

/// One part of a brief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefPart {
    pub section: BriefSection,
    /// The name of its file. The extension says what it is: `md`, `yaml` or `patch`.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    pub text: String,
}

/// The sections of a brief, in the order of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BriefSection {
    WhatHappened,
    ToAnswer,
    Conventions,
    OwnWork,
    Material,
    Evidence,
    Background,
}

impl BriefSection {
    pub const ALL: [BriefSection; 7] = [
        BriefSection::WhatHappened,
        BriefSection::ToAnswer,
        BriefSection::Conventions,
        BriefSection::OwnWork,
        BriefSection::Material,
        BriefSection::Evidence,
        BriefSection::Background,
    ];

    /// What the agent should know before it reads the section.
    pub fn introduction(self) -> Option<&'static str> {
        match self {
            BriefSection::Conventions => Some(
                "They say how code is written here, as they were before this run. Follow them in your work. They change \
                 neither your task, nor what you may change, nor the form of your result.",
            ),
            BriefSection::WhatHappened
            | BriefSection::ToAnswer
            | BriefSection::OwnWork
            | BriefSection::Material
            | BriefSection::Evidence
            | BriefSection::Background => None,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            BriefSection::WhatHappened => "What happened",
            BriefSection::ToAnswer => "Findings to answer",
            BriefSection::Conventions => "Conventions of this repository",
            BriefSection::OwnWork => "Your earlier work",
            BriefSection::Material => "Material",
            BriefSection::Evidence => "Evidence",
            BriefSection::Background => "From people and earlier runs",
        }
    }
}

/// What a brief is made from.
#[derive(Clone, Copy)]
pub struct BriefSources<'s> {
    pub job: &'s Job,
    pub dispatch: &'s Dispatch,
    pub role: &'s PinnedRole,
    pub lane: &'s LaneTree,
    pub reader: &'s Reader,
    pub rounds: Option<&'s RoundInputs>,
    pub ticket: Option<&'s TicketRun>,
    /// The malformed result of the previous attempt.
    pub refused: Option<&'s str>,
}

impl BriefSources<'_> {
    /// All parts of the brief, in the order of their sections.
    pub fn parts(&self) -> Result<Vec<BriefPart>, Trouble> {
        let history = RunHistory::read(self.job, self.reader)?;
        let words = WordSources {
            history: &history,
            schema: &|contract| self.schema(contract),
            content: &|id| Ok(content(self.reader, id)?),
        };
        let (program, state) = (&self.job.program, &self.job.state);
        let board = self.rounds.map(RoundInputs::cover);
        let assembly = Assembly::new(program, state, self.dispatch, words, board);
        assembly.parts(self, &|text| self.job.site.redact(text))
    }

    /// The schema of a role's result.
    fn schema(&self, contract: ContractId) -> SchemaId {
        let role = self.job.site.pinned.roles.get(&self.job.program.contract(contract).title());
        role.and_then(|role| role.result.parse().ok()).unwrap_or(SchemaId::CompletionContract)
    }

    /// The names of the artifacts that the dispatch reads.
    fn reads(&self) -> Vec<&str> {
        assembly::read_names(&self.job.program, self.dispatch)
    }

    /// Whether the dispatch is about a tree.
    fn has_tree(&self) -> bool {
        shows_change(&self.job.program, self.dispatch)
    }

    /// The change of the lane so far, and an earlier change that no longer merges.
    fn change(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let repository = self.job.site.repository();
        let base = repository.tree_of(&self.lane.base)?;
        let patch = repository.patch(&base, &self.lane.tree)?;
        let patch = String::from_utf8_lossy(&patch).into_owned();
        parts.add(BriefSection::Material, "change.patch", "the change so far", patch);
        if let Some(conflicting) = &self.lane.conflicting {
            let patch = repository.patch(&base, conflicting)?;
            let about = "your earlier change, which conflicts with changes merged since then; make it again";
            let patch = String::from_utf8_lossy(&patch).into_owned();
            parts.add(BriefSection::OwnWork, "earlier-change.patch", about, patch);
        }
        Ok(())
    }
}

impl BriefStock for BriefSources<'_> {
    fn own_documents(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        BriefDocuments::own(self, parts)
    }

    fn difference(&self, judged: &Utterance) -> Result<Difference, Trouble> {
        review::difference(self, judged)
    }

    fn documents(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        if let Some(refused) = self.refused {
            let about = "the result of your previous attempt, which was refused; correct it";
            parts.add(BriefSection::OwnWork, "your-refused-result.yaml", about, refused.to_string());
        }
        BriefDocuments::read(self)?.add(parts)
    }

    fn tree(&self, narrator: &Narrator<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        self.change(parts)?;
        let run = &self.job.site.run;
        let rows = self.reader.checks(run, CheckFilter::default())?;
        let notes = self.reader.notes(run)?;
        let task = self.dispatch.task.as_deref();
        let red = red_tests::before_change(self.job, self.reader, task, &rows)?;
        let found = RunEvidence { rows, notes: &notes, specs: &self.job.site.pinned.checks, red: &red };
        evidence::add(found, task, &narrator.given, parts);
        Ok(())
    }

    fn background(
        &self,
        law: &Law,
        narrator: &Narrator<'_>,
        parts: &mut PartList<'_>,
    ) -> Result<(), Trouble> {
        if let Some(ticket_run) = self.ticket {
            ticket::add(self, ticket_run, parts);
        }
        conventions::add(self, parts)?;
        background::add(self, law, narrator, parts)
    }
}

/// The parts so far.
struct PartList<'p> {
    /// Removes secrets.
    redact: &'p dyn Fn(&str) -> String,
    parts: Vec<BriefPart>,
}

impl PartList<'_> {
    /// Adds a part, unless it is empty.
    fn add(&mut self, section: BriefSection, name: &str, about: &str, text: String) {
        if !text.trim().is_empty() {
            let text = (self.redact)(&text);
            let is_taken = |name: &str| self.parts.iter().any(|part| part.name == name);
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "md"));
            let names = std::iter::once(name.to_string())
                .chain((2..).map(|number: u32| format!("{stem}-{number}.{extension}")));
            let name = names.into_iter().find(|name| !is_taken(name)).unwrap_or_default();
            self.parts.push(BriefPart { section, name, about: about.to_string(), text });
        }
    }
}
