//! Assembles a brief. The reports of earlier visits come from the journal; a `BriefStock` supplies everything that
//! needs the ledger or a tree.

use super::evidence::GivenFinding;
use super::history::{RunHistory, Speaker, Utterance};
use super::review::{self, Difference};
use super::rounds::BoardCover;
use super::words::{self, Narrator};
use super::{BriefPart, BriefSection, PartList};
use crate::site::{TREES, Trouble};
use remand_contract::SchemaId;
use remand_kernel::brief::{Brief as Law, answers_findings, shows_change};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::{ArtifactId, ContractId, PhaseId};
use remand_kernel::program::{Contract, Phase};
use remand_kernel::{Program, State};
use remand_ledger::fact::BlobId;

/// The file with the findings that a dispatch must answer.
const TO_ANSWER: &str = "findings-to-answer.md";

/// The file with the open issues that a dispatch must not report again.
const KNOWN_ISSUES: &str = "known-issues.md";

/// The file with the phase's own last report.
const OWN_REPORT: &str = "your-last-report.md";

/// Everything that a brief takes from the ledger and from trees.
pub trait BriefStock {
    /// Adds the documents that the phase wrote last.
    fn own_documents(&self, parts: &mut PartList<'_>) -> Result<(), Trouble>;

    /// What has changed since a seat judged the work.
    fn difference(&self, judged: &Utterance) -> Result<Difference, Trouble>;

    /// Adds the documents that the phase reads.
    fn documents(&self, parts: &mut PartList<'_>) -> Result<(), Trouble>;

    /// Adds the change and its evidence. The narrator knows which findings quote the evidence already.
    fn tree(&self, narrator: &Narrator<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble>;

    /// Adds what people and earlier runs left.
    fn background(&self, law: &Law, narrator: &Narrator<'_>, parts: &mut PartList<'_>)
    -> Result<(), Trouble>;
}

/// One brief to be assembled.
pub struct Assembly<'a> {
    program: &'a Program,
    state: &'a State,
    dispatch: &'a Dispatch,
    board: Option<&'a BoardCover>,
    law: Law,
    narrator: Narrator<'a>,
}

/// Where the words of earlier results come from.
#[derive(Clone, Copy)]
pub struct WordSources<'a> {
    pub history: &'a RunHistory,
    /// The schema of a role's result.
    pub schema: &'a dyn Fn(ContractId) -> SchemaId,
    /// Reads a text that an agent left.
    pub content: &'a dyn Fn(BlobId) -> Result<String, Trouble>,
}

impl<'a> Assembly<'a> {
    pub fn new(
        program: &'a Program,
        state: &'a State,
        dispatch: &'a Dispatch,
        words: WordSources<'a>,
        board: Option<&'a BoardCover>,
    ) -> Assembly<'a> {
        let WordSources { history, schema, content } = words;
        let task = dispatch.task.as_deref();
        let law = remand_kernel::brief::brief(program, &history.visits, dispatch.id.phase, task);
        let listed = |positions: &'a [u32], file: &'static str| {
            let filed = positions.iter().filter_map(|at| state.findings.get(*at as usize));
            filed.map(move |filed| GivenFinding { finding: &filed.finding, file })
        };
        let to_answer = listed(findings_to_answer(program, dispatch), TO_ANSWER);
        let given = to_answer.chain(listed(&dispatch.known, KNOWN_ISSUES)).collect();
        let has_evidence = shows_change(program, dispatch);
        let narrator =
            Narrator { program, filed: &state.findings, schema, content, history, given, has_evidence };
        Assembly { program, state, dispatch, board, law, narrator }
    }

    /// Adds all parts, in the order of their sections.
    pub fn parts(
        &self,
        stock: &dyn BriefStock,
        redact: &dyn Fn(&str) -> String,
    ) -> Result<Vec<BriefPart>, Trouble> {
        let mut parts = PartList { redact, parts: Vec::new() };
        self.way(&mut parts)?;
        self.findings(&mut parts);
        self.own_work(stock, &mut parts)?;
        stock.documents(&mut parts)?;
        self.authors(&mut parts)?;
        if self.narrator.has_evidence {
            stock.tree(&self.narrator, &mut parts)?;
        }
        stock.background(&self.law, &self.narrator, &mut parts)?;
        let mut parts = parts.parts;
        parts.sort_by_key(|part| part.section);
        Ok(parts)
    }

    fn phase(&self) -> &'a Phase {
        self.program.phase(self.dispatch.id.phase)
    }

    fn contract(&self) -> &'a Contract {
        self.program.contract(self.dispatch.contract)
    }

    /// Adds the reports of the visits on the way, except results that the role reads as documents anyway.
    fn way(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        for visit in &self.law.way {
            let past = &self.narrator.history.visits[*visit];
            let phase = self.program.phase(past.phase);
            let is_read = past.has_result && self.reads_all(phase) && self.is_in_documents(*visit);
            let history = self.narrator.history;
            let is_told = self.board.is_some_and(|board| {
                board.tells(past.phase, self.program)
                    || BoardCover::has_decisions(*visit, history, self.program)
            });
            let is_given = is_read || is_told;
            let text =
                if is_given { self.narrator.failures(*visit)? } else { self.narrator.visit(*visit)? };
            if is_given && text.is_empty() {
                continue;
            }
            // A phase may have the name of a document.
            let is_taken = self.program.artifact_named(&phase.name).is_some();
            let stem = if is_taken { format!("{}-said", phase.name) } else { phase.name.clone() };
            let name = match &past.task {
                Some(task) => format!("{stem}-{task}.md"),
                None => format!("{stem}.md"),
            };
            let headline = self.narrator.headline(*visit);
            if text.trim().is_empty() {
                parts.add(BriefSection::WhatHappened, &name, "how it ended", format!("{headline}."));
            } else {
                parts.add(BriefSection::WhatHappened, &name, &headline, text);
            }
        }
        Ok(())
    }

    /// Whether the dispatch reads everything that a phase writes.
    fn reads_all(&self, phase: &Phase) -> bool {
        let is_read = |id: &ArtifactId| self.dispatch.reads.iter().any(|(read, _)| read == id);
        phase.writes.iter().all(is_read)
    }

    /// Whether the current documents contain what a visit reported, because it wrote them or a later visit edited its
    /// version.
    fn is_in_documents(&self, visit: usize) -> bool {
        let history = self.narrator.history;
        let phase = self.program.phase(history.visits[visit].phase);
        let is_current = |id: &ArtifactId| {
            let name = &self.program.artifacts[id.index()];
            let written = (visit..history.visits.len()).flat_map(|at| history.words(at));
            let mut written = written.flat_map(|utterance| &utterance.wrote);
            !TREES.contains(&name.as_str())
                && written.any(|(of, version)| of == name && *version == self.state.digest(*id))
        };
        !phase.writes.is_empty() && phase.writes.iter().all(is_current)
    }

    fn findings(&self, parts: &mut PartList<'_>) {
        let dispatch = self.dispatch;
        let text = self.finding_texts(findings_to_answer(self.program, dispatch));
        let about = "answer each with a change or with a reasoned dispute";
        parts.add(BriefSection::ToAnswer, TO_ANSWER, about, text);
        let is_read = |phase: PhaseId| {
            let written = &self.program.phase(phase).writes;
            dispatch.reads.iter().any(|(read, _)| written.contains(read))
        };
        let constraints = self.state.constraints.iter().filter(|bound| is_read(bound.phase));
        let constraints: Vec<u32> = constraints
            .map(|bound| bound.finding)
            .filter(|at| !dispatch.findings.contains(at) && !dispatch.known.contains(at))
            .collect();
        let text = self.finding_texts(&constraints);
        let about = "findings that bind what you read; it says for each how it is met";
        parts.add(BriefSection::Evidence, "constraints.md", about, text);
        let text = self.finding_texts(&dispatch.known);
        let about = "known open issues; do not report them again";
        parts.add(BriefSection::Evidence, KNOWN_ISSUES, about, text);
    }

    /// Findings of the run, by their positions, as a list.
    fn finding_texts(&self, positions: &[u32]) -> String {
        let filed = positions.iter().filter_map(|at| self.state.findings.get(*at as usize));
        filed.map(|filed| words::finding_text(&filed.finding)).collect()
    }

    /// The phase's own last work: the documents that it wrote, and its report about them.
    fn own_work(&self, stock: &dyn BriefStock, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let Some(own) = self.law.own else { return Ok(()) };
        let Some(utterance) = self.own_utterance(own) else { return Ok(()) };
        stock.own_documents(parts)?;
        let narrator = &self.narrator;
        let mut text = narrator.history.reason(own).map(|reason| format!("{reason}\n\n")).unwrap_or_default();
        let writes_document = writes_document(self.program, self.phase());
        if writes_document && utterance.says.is_some() && self.is_in_documents(own) {
            parts.add(BriefSection::OwnWork, OWN_REPORT, "how the engine ruled about your last result", text);
            return Ok(());
        }
        let earlier = self.earlier_utterances(own);
        if self.contract().judges() && !writes_document {
            let difference = stock.difference(utterance)?;
            let (judgement, shown) =
                review::earlier_judgement(narrator, own, utterance, &earlier, &difference)?;
            text.push_str(&judgement);
            let about = "your last review, with the answers";
            parts.add(BriefSection::OwnWork, "your-last-review.md", about, text);
            let about = "what else has changed since you judged it";
            parts.add(BriefSection::OwnWork, "since-your-review.patch", about, difference.without(&shown));
        } else {
            text.push_str(&review::earlier_report(narrator, own, utterance, &earlier)?);
            let about = if writes_document {
                "your last result, which is in no document"
            } else {
                "your last report; your working directory has the work itself"
            };
            parts.add(BriefSection::OwnWork, OWN_REPORT, about, text);
        }
        Ok(())
    }

    /// What this dispatch's seat reported in a visit: the same item, or the same role.
    fn own_utterance(&self, visit: usize) -> Option<&'a Utterance> {
        self.narrator.history.words(visit).iter().find(|utterance| match &utterance.speaker {
            Speaker::Agent { contract, item, .. } => {
                *contract == self.dispatch.contract && *item == self.dispatch.item
            }
            Speaker::Engine { .. } | Speaker::Human { .. } => false,
        })
    }

    /// What this dispatch's seat reported in the visits before its last one.
    fn earlier_utterances(&self, own: usize) -> Vec<(usize, &'a Utterance)> {
        let visits = &self.narrator.history.visits;
        let is_own =
            |at: &usize| visits[*at].phase == self.dispatch.id.phase && visits[*at].task == visits[own].task;
        (0..own).filter(is_own).filter_map(|at| Some((at, self.own_utterance(at)?))).collect()
    }

    /// The reports of the phases that changed a tree that the phase reads.
    fn authors(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        for visit in &self.law.authors {
            let past = &self.narrator.history.visits[*visit];
            let phase = &self.program.phase(past.phase).name;
            let name = match &past.task {
                Some(task) => format!("report-{phase}-{task}.md"),
                None => format!("report-{phase}.md"),
            };
            let about = format!("the report of {}; a claim, not evidence", self.narrator.title(*visit));
            let text = self.narrator.visit(*visit)?;
            parts.add(BriefSection::Material, &name, &about, text);
        }
        Ok(())
    }
}

/// The names of the artifacts that a dispatch reads.
pub fn read_names<'p>(program: &'p Program, dispatch: &Dispatch) -> Vec<&'p str> {
    dispatch.reads.iter().map(|(id, _)| program.artifacts[id.index()].as_str()).collect()
}

/// The findings that a dispatch must answer.
fn findings_to_answer<'d>(program: &Program, dispatch: &'d Dispatch) -> &'d [u32] {
    if answers_findings(program.phase(dispatch.id.phase)) { &dispatch.findings } else { &[] }
}

/// Whether a phase writes something other than a tree.
fn writes_document(program: &Program, phase: &Phase) -> bool {
    phase.writes.iter().any(|id| !TREES.contains(&program.artifacts[id.index()].as_str()))
}
