//! A second look: what a role said when it last judged the work, what became of each finding, and what has changed since.

use super::BriefSources;
use super::history::{Speaker, Utterance};
use super::words::{Narrator, finding_text, indented};
use crate::artifacts::{content, disputes};
use crate::site::{TREES, Trouble};
use remand_contract::markdown::code;
use remand_git::TreeId;
use remand_kernel::change::Digest;
use remand_kernel::finding::Finding;
use remand_kernel::ids::ArtifactId;
use remand_kernel::state::FiledStatus;
use std::fmt::Write;

/// The earlier judgement of this dispatch's seat, with what became of each finding.
pub fn earlier_judgement(
    narrator: &Narrator<'_>,
    own: usize,
    utterance: &Utterance,
) -> Result<String, Trouble> {
    let verdict = utterance.says.as_deref().unwrap_or("no result");
    let mut text = format!("You judged this work before and ended with {}.\n\n", code(verdict));
    if let Some(result) = narrator.result(utterance)? {
        text.push_str(&narrator.words(utterance, &result));
    }
    if !utterance.findings.is_empty() {
        text.push_str("\nYour findings, and what became of them. If one is still true, name its id under `repeats`.\n\n");
    }
    for finding in &utterance.findings {
        text.push_str(&finding_text(finding));
        let _ = writeln!(text, "  - What became of it: {}", answer(narrator, finding, own)?);
    }
    let others = narrator.others(own, utterance.seat)?;
    if !others.is_empty() {
        let _ = write!(text, "\nThe others at that time:\n\n{others}");
    }
    Ok(text)
}

/// How a finding was answered since it was reported.
fn answer(narrator: &Narrator<'_>, finding: &Finding, own: usize) -> Result<String, Trouble> {
    for visit in (own + 1..narrator.history.visits.len()).rev() {
        for utterance in narrator.history.words(visit) {
            let Some(result) = narrator.result(utterance)? else { continue };
            if let Some(dispute) =
                disputes(result).into_iter().find(|dispute| dispute.finding.0 == finding.id)
            {
                let by = narrator.title(visit);
                return Ok(format!("{by} disputes it: {}", indented(dispute.reason.0.trim(), 4)));
            }
        }
    }
    let filed = narrator
        .filed
        .iter()
        .rev()
        .find(|filed| filed.finding.id == finding.id && filed.finding.claim == finding.claim);
    let sent_to = filed.and_then(|filed| filed.sent_to).map(|id| &narrator.program.phase(id).name);
    Ok(match (filed.map(|filed| filed.status), sent_to) {
        (Some(FiledStatus::Settled), _) => "it was accepted as dealt with".to_string(),
        (Some(FiledStatus::FollowUp), _) => "it is a follow-up for later".to_string(),
        (Some(FiledStatus::Advice), _) => "it was recorded as advice".to_string(),
        (_, Some(phase)) => {
            format!("it was sent to {}; see what has changed since", code(phase))
        }
        (_, None) => "it was not sent to anybody".to_string(),
    })
}

/// The difference between what this seat judged last and what it judges now, as a patch; empty if nothing changed.
pub fn difference(sources: &BriefSources<'_>, utterance: &Utterance) -> Result<String, Trouble> {
    let Speaker::Agent { reads, tree, .. } = &utterance.speaker else { return Ok(String::new()) };
    let BriefSources { job, lane, reader, .. } = sources;
    let now = &sources.dispatch.reads;
    let names = |id: &ArtifactId| job.program.artifacts[id.index()].as_str();
    let mut text = String::new();
    if now.iter().any(|(id, _)| TREES.contains(&names(id)))
        && let Some(before) = tree
    {
        let before: TreeId = before.parse()?;
        // The review is possible without the difference.
        match job.site.repository().patch(&before, &lane.tree) {
            Ok(patch) => text.push_str(&String::from_utf8_lossy(&patch)),
            Err(error) => {
                let _ = writeln!(text, "The difference to the tree that you judged cannot be shown: {error}");
            }
        }
    }
    for (id, digest) in now.iter().filter(|(id, _)| !TREES.contains(&names(id))) {
        let Some((_, judged)) = reads.iter().find(|(read, _)| read == id) else { continue };
        if judged == digest {
            continue;
        }
        let version = |digest: Digest| -> Result<Option<String>, Trouble> {
            let row = reader.artifact_by_digest(&job.site.run, names(id), digest)?;
            Ok(row.map(|row| content(reader, row.blob)).transpose()?)
        };
        if let (Some(before), Some(after)) = (version(*judged)?, version(*digest)?) {
            text.push_str(&job.site.repository().text_difference(names(id), &before, &after)?);
        }
    }
    Ok(text)
}
