//! The brief of each phase, for each way into it, as tables for people.

use crate::explore::ways::{WayGraph, WayIn};
use remand_kernel::brief::{always_shows_change, answers_findings, is_author, is_tree};
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::program::{Contract, Program, Work};
use serde::Serialize;
use std::collections::BTreeSet;

/// What every role is given, as a sentence for people.
pub const EVERYONE: &str = "Every role is also given the known issues of the run, the notes that people left at gates, and what \
    earlier runs learned about the files at hand. A role that sees the work tree is given the conventions of the repository.";

/// What one phase is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseBrief {
    pub phase: String,
    pub roles: Vec<String>,
    /// What it is given on every way in: the subject, and what it reads.
    pub reads: Vec<String>,
    pub may_read: Vec<String>,
    /// The phases whose reports come with the trees that it reads.
    pub reports: Vec<String>,
    /// Whether it is given the change so far and its evidence.
    pub shows_change: bool,
    pub ways: Vec<WayBrief>,
}

/// What a phase is given on a group of ways in that all supply the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WayBrief {
    /// `phase: signal` for each of these ways; `start` for the start of the run.
    pub ways: Vec<String>,
    /// Whether the phase has run before.
    pub again: bool,
    /// Its own earlier work.
    pub own: Vec<String>,
    /// Whether it must answer findings.
    pub findings: FindingsToAnswer,
    /// The phases whose last report it is given on every path.
    pub hears: Vec<String>,
    /// The phases whose last report it is given if the path led through them.
    pub may_hear: Vec<String>,
}

/// Whether a phase is given findings that it must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingsToAnswer {
    Never,
    /// If a review named the phase.
    IfAny,
    /// The work was sent back to it.
    Always,
}

/// The briefs of all phases with a role, in file order.
pub fn briefs(program: &Program) -> Vec<PhaseBrief> {
    let graph = WayGraph::new(program);
    let with_role = program.phase_ids().filter(|id| !program.phase(*id).contracts().is_empty());
    with_role.map(|id| phase_brief(program, &graph, id)).collect()
}

fn phase_brief(program: &Program, graph: &WayGraph<'_>, id: PhaseId) -> PhaseBrief {
    let phase = program.phase(id);
    let contracts = phase.contracts().iter().map(|contract| program.contract(*contract));
    let mut reads = artifacts(program, &phase.reads);
    if !reads.contains(&program.subject) {
        reads.insert(0, program.subject.clone());
    }
    let authors = program.phase_ids().filter(|other| *other != id && is_author(program, *other, id));
    let mut ways: Vec<WayBrief> = Vec::new();
    for way in graph.ways_in(id) {
        let entry = way_brief(program, id, &way);
        match ways.iter_mut().find(|known| WayBrief { ways: entry.ways.clone(), ..(*known).clone() } == entry)
        {
            Some(known) if known.ways.contains(&entry.ways[0]) => {}
            Some(known) => known.ways.extend(entry.ways),
            None => ways.push(entry),
        }
    }
    PhaseBrief {
        phase: phase.name.clone(),
        roles: contracts.map(Contract::title).collect(),
        reads,
        may_read: artifacts(program, &phase.may_read),
        reports: names(program, authors),
        shows_change: always_shows_change(program, phase),
        ways,
    }
}

fn way_brief(program: &Program, id: PhaseId, way: &WayIn) -> WayBrief {
    let phase = program.phase(id);
    let from = way.from.map_or_else(
        || "start".to_string(),
        |(from, signal)| format!("{}: {}", program.phase(from).name, program.signal(signal)),
    );
    let own = if way.again && !phase.afresh { own_work(program, id) } else { Vec::new() };
    // What a phase wrote is read as a document.
    let is_read = |other: &&PhaseId| {
        let written = &program.phase(**other).writes;
        let reads =
            |artifact: &ArtifactId| phase.reads.contains(artifact) || phase.may_read.contains(artifact);
        !written.is_empty() && written.iter().all(|artifact| reads(artifact) && !is_tree(program, *artifact))
    };
    let told =
        |heard: &BTreeSet<PhaseId>| names(program, heard.iter().filter(|other| !is_read(other)).copied());
    let hears = told(&way.heard);
    let may_hear = told(&way.may_hear).into_iter().filter(|name| !hears.contains(name)).collect();
    let finds = way.from.is_some_and(|(from, _)| reports_findings(program, from));
    let findings = match answers_findings(phase) {
        true if way.back && finds => FindingsToAnswer::Always,
        true if way.back || way.again || finds => FindingsToAnswer::IfAny,
        true | false => FindingsToAnswer::Never,
    };
    WayBrief { ways: vec![from], again: way.again, own, findings, hears, may_hear }
}

/// Whether a role of a phase reports findings.
fn reports_findings(program: &Program, id: PhaseId) -> bool {
    let phase = program.phase(id);
    match &phase.work {
        Work::Operation { operation } => program.operation(*operation).judges,
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } => {
            phase.contracts().iter().any(|contract| program.contract(*contract).findings)
        }
        Work::Ask { .. } | Work::Flow { .. } => false,
    }
}

/// Which of its own results a phase is given when it runs again.
fn own_work(program: &Program, id: PhaseId) -> Vec<String> {
    let phase = program.phase(id);
    let documents: Vec<ArtifactId> =
        phase.writes.iter().filter(|artifact| !is_tree(program, **artifact)).copied().collect();
    let contracts = phase.contracts().iter().map(|contract| program.contract(*contract));
    let reviews = contracts.into_iter().any(Contract::judges);
    match (documents.is_empty(), reviews) {
        (false, _) => {
            artifacts(program, &documents).into_iter().map(|name| format!("its own {name}")).collect()
        }
        (true, true) => {
            vec!["its last review, with the answers".to_string(), "what changed since".to_string()]
        }
        (true, false) => vec!["its last report".to_string()],
    }
}

fn artifacts(program: &Program, ids: &[ArtifactId]) -> Vec<String> {
    ids.iter().map(|id| program.artifacts[id.index()].clone()).collect()
}

fn names(program: &Program, phases: impl Iterator<Item = PhaseId>) -> Vec<String> {
    phases.map(|id| program.phase(id).name.clone()).collect()
}

/// The briefs as Markdown, one table for each phase.
pub fn markdown(briefs: &[PhaseBrief]) -> String {
    let mut text = String::new();
    for brief in briefs {
        let listed = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        text.push_str(&format!(
            "### {}\n\nThe role {} reads {}",
            brief.phase,
            listed(&brief.roles),
            listed(&brief.reads)
        ));
        if !brief.may_read.is_empty() {
            text.push_str(&format!(", and if they exist {}", listed(&brief.may_read)));
        }
        if !brief.reports.is_empty() {
            text.push_str(&format!(", with the reports of {}", listed(&brief.reports)));
        }
        if brief.shows_change {
            text.push_str(", with the change so far and its evidence");
        }
        text.push_str(".\n\n| way in | is also given |\n| --- | --- |\n");
        for way in &brief.ways {
            text.push_str(&format!("| {} | {} |\n", way_cell(way), given(way)));
        }
        text.push('\n');
    }
    text
}

/// The ways in, as one cell.
pub fn way_cell(way: &WayBrief) -> String {
    let again = if way.again { " (again)" } else { "" };
    format!("{}{again}", way.ways.join("; "))
}

/// What these ways supply, as one cell.
pub fn given(way: &WayBrief) -> String {
    let mut parts = way.own.clone();
    parts.extend(match way.findings {
        FindingsToAnswer::Never => None,
        FindingsToAnswer::IfAny => Some("findings to answer, if any".to_string()),
        FindingsToAnswer::Always => Some("the findings to answer".to_string()),
    });
    if !way.hears.is_empty() {
        parts.push(format!("the reports of {}", way.hears.join(", ")));
    }
    if !way.may_hear.is_empty() {
        parts.push(format!("if they ran, the reports of {}", way.may_hear.join(", ")));
    }
    if parts.is_empty() { "nothing more".to_string() } else { parts.join("; ") }
}
