//! The brief of a dispatch: everything that its agent is given, in parts.
//!
//! The kernel's law decides which earlier results belong to it; this module puts them into words, with the documents,
//! the change and the evidence that the phase reads.

mod background;
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
use crate::site::{Job, LaneTree, TREES, Trouble};
use crate::ticket::TicketRun;
use documents::BriefDocuments;
use history::{RunHistory, Speaker, Utterance};
use remand_contract::SchemaId;
use remand_kernel::brief::Brief as Law;
use remand_kernel::command::Dispatch;
use remand_kernel::ids::ContractId;
use remand_ledger::Reader;
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
    OwnWork,
    Material,
    Evidence,
    Background,
}

impl BriefSection {
    pub const ALL: [BriefSection; 6] = [
        BriefSection::WhatHappened,
        BriefSection::ToAnswer,
        BriefSection::OwnWork,
        BriefSection::Material,
        BriefSection::Evidence,
        BriefSection::Background,
    ];

    pub fn title(self) -> &'static str {
        match self {
            BriefSection::WhatHappened => "What happened",
            BriefSection::ToAnswer => "Findings to answer",
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
}

impl BriefSources<'_> {
    /// All parts of the brief, in the order of their sections.
    pub fn parts(&self) -> Result<Vec<BriefPart>, Trouble> {
        let history = RunHistory::read(self.job, self.reader)?;
        let (program, task) = (&self.job.program, self.dispatch.task.as_deref());
        let law = remand_kernel::brief::brief(program, &history.visits, self.job.id.phase, task);
        let given = self.addressed_findings().iter().chain(&self.dispatch.known);
        let given = given.filter_map(|at| self.job.state.findings.get(*at as usize));
        let narrator = Narrator {
            program,
            filed: &self.job.state.findings,
            schema: &|contract| self.schema(contract),
            content: &|id| Ok(content(self.reader, id)?),
            history: &history,
            given: given.map(|filed| filed.finding.clone()).collect(),
            has_evidence: self.has_tree(),
        };
        let mut parts = PartList { job: self.job, parts: Vec::new() };
        self.way(&law, &narrator, &mut parts)?;
        self.findings(&mut parts);
        self.own_work(&law, &narrator, &mut parts)?;
        BriefDocuments::read(self)?.add(&mut parts)?;
        self.authors(&law, &narrator, &mut parts)?;
        if self.has_tree() {
            self.change(&mut parts)?;
            self.evidence(&mut parts)?;
        }
        if let Some(ticket_run) = self.ticket {
            ticket::add(self, ticket_run, &mut parts);
        }
        background::add(self, &law, &narrator, &mut parts)?;
        parts.parts.sort_by_key(|part| part.section);
        Ok(parts.parts)
    }

    /// The schema of a role's result.
    fn schema(&self, contract: ContractId) -> SchemaId {
        let role = self.job.site.pinned.roles.get(&self.job.program.contract(contract).title());
        role.and_then(|role| role.result.parse().ok()).unwrap_or(SchemaId::CompletionContract)
    }

    /// The names of the artifacts that the dispatch reads.
    fn reads(&self) -> Vec<&str> {
        self.dispatch.reads.iter().map(|(id, _)| self.job.program.artifacts[id.index()].as_str()).collect()
    }

    /// Whether the dispatch is about a tree, so that the change and its evidence belong to the brief.
    fn has_tree(&self) -> bool {
        let reads = self.reads();
        let dispatch = self.dispatch;
        TREES.iter().any(|tree| reads.contains(tree)) || dispatch.task.is_some() || dispatch.nearest.is_some()
    }

    /// What was said on the way. A result that is read as a document is not given twice.
    fn way(&self, law: &Law, narrator: &Narrator<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let reads = self.reads();
        for visit in &law.way {
            let past = &narrator.history.visits[*visit];
            let phase = self.job.program.phase(past.phase);
            let mut written = phase.writes.iter().map(|id| self.job.program.artifacts[id.index()].as_str());
            let is_document = !phase.writes.is_empty()
                && written.all(|name| !TREES.contains(&name) && reads.contains(&name));
            if (is_document && past.has_result)
                || self.rounds.is_some_and(|rounds| rounds.tells(past.phase, self.job))
            {
                continue;
            }
            // A phase may have the name of a document.
            let is_taken = self.job.program.artifact_named(&phase.name).is_some();
            let stem = if is_taken { format!("{}-said", phase.name) } else { phase.name.clone() };
            let name = match &past.task {
                Some(task) => format!("{stem}-{task}.md"),
                None => format!("{stem}.md"),
            };
            let headline = narrator.headline(*visit);
            let text = narrator.visit(*visit)?;
            let text = if text.trim().is_empty() { format!("{headline}.") } else { text };
            parts.add(BriefSection::WhatHappened, &name, &headline, text);
        }
        Ok(())
    }

    /// The findings that the dispatch must answer. A role that only judges answers nothing.
    fn addressed_findings(&self) -> &[u32] {
        let phase = self.job.program.phase(self.job.id.phase);
        if phase.writes.is_empty() { &[] } else { &self.dispatch.findings }
    }

    fn findings(&self, parts: &mut PartList<'_>) {
        let text = parts.finding_texts(self.addressed_findings());
        let about = "answer each with a change or with a reasoned dispute";
        parts.add(BriefSection::ToAnswer, "findings-to-answer.md", about, text);
        let constraints = self.job.state.constraints.iter().map(|bound| bound.finding);
        let constraints: Vec<u32> = constraints
            .filter(|at| !self.dispatch.findings.contains(at) && !self.dispatch.known.contains(at))
            .collect();
        let text = parts.finding_texts(&constraints);
        let about = "findings that bind the plan; the plan says for each which task meets it";
        if self.reads().contains(&"plan") {
            parts.add(BriefSection::Evidence, "constraints.md", about, text);
        }
        let text = parts.finding_texts(&self.dispatch.known);
        let about = "known open issues; do not report them again";
        parts.add(BriefSection::Evidence, "known-issues.md", about, text);
    }

    /// The phase's own last work: what it wrote, and what it said about it.
    fn own_work(&self, law: &Law, narrator: &Narrator<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let Some(own) = law.own else { return Ok(()) };
        let Some(utterance) = self.own_utterance(own, narrator) else { return Ok(()) };
        let wrote_document = BriefDocuments::own(self, parts)?;
        let contract = self.job.program.contract(self.dispatch.contract);
        if contract.findings && contract.changes.is_empty() && !wrote_document {
            let text = review::earlier_judgement(narrator, own, utterance)?;
            parts.add(
                BriefSection::OwnWork,
                "your-last-review.md",
                "your last review, with the answers",
                text,
            );
            let text = review::difference(self, utterance)?;
            parts.add(
                BriefSection::OwnWork,
                "since-your-review.patch",
                "what has changed since you judged it",
                text,
            );
        } else if !wrote_document {
            let text = narrator.utterance(utterance)?;
            let about = "your last report; your working directory has the work itself";
            parts.add(BriefSection::OwnWork, "your-last-report.md", about, text);
        }
        Ok(())
    }

    /// What this dispatch's seat said in a visit: the same item, or the same role.
    fn own_utterance<'h>(&self, own: usize, narrator: &Narrator<'h>) -> Option<&'h Utterance> {
        narrator.history.words(own).iter().find(|utterance| match &utterance.speaker {
            Speaker::Agent { contract, item, .. } => {
                *contract == self.dispatch.contract && *item == self.dispatch.item
            }
            Speaker::Engine { .. } | Speaker::Human { .. } => false,
        })
    }

    /// The reports of those who changed a tree that the phase reads.
    fn authors(&self, law: &Law, narrator: &Narrator<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        for visit in &law.authors {
            let past = &narrator.history.visits[*visit];
            let phase = &self.job.program.phase(past.phase).name;
            let name = match &past.task {
                Some(task) => format!("report-{phase}-{task}.md"),
                None => format!("report-{phase}.md"),
            };
            let about = format!("the report of {}; a claim, not evidence", narrator.title(*visit));
            let text = narrator.visit(*visit)?;
            parts.add(BriefSection::Material, &name, &about, text);
        }
        Ok(())
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

    fn evidence(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let text = evidence::of_dispatch(self)?;
        let about = "the checks that the engine ran; only they count";
        parts.add(BriefSection::Evidence, "evidence.md", about, text);
        Ok(())
    }
}

/// The parts so far.
struct PartList<'p> {
    job: &'p Job,
    parts: Vec<BriefPart>,
}

impl PartList<'_> {
    /// Adds a part, unless it is empty.
    fn add(&mut self, section: BriefSection, name: &str, about: &str, text: String) {
        if !text.trim().is_empty() {
            let text = self.job.site.redact(&text);
            let is_taken = |name: &str| self.parts.iter().any(|part| part.name == name);
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "md"));
            let names = std::iter::once(name.to_string())
                .chain((2..).map(|number: u32| format!("{stem}-{number}.{extension}")));
            let name = names.into_iter().find(|name| !is_taken(name)).unwrap_or_default();
            self.parts.push(BriefPart { section, name, about: about.to_string(), text });
        }
    }

    /// Findings of the run, by their positions, as a list.
    fn finding_texts(&self, positions: &[u32]) -> String {
        let filed = positions.iter().filter_map(|at| self.job.state.findings.get(*at as usize));
        filed.map(|filed| words::finding_text(&filed.finding)).collect()
    }
}
