//! A second look: what a role said when it last judged the work, what became of each finding, and what has changed since.

use super::BriefSources;
use super::history::{Speaker, Utterance};
use super::words::{Narrator, finding_text, indented};
use crate::artifacts::content;
use crate::artifacts::disputes;
use crate::site::{TREES, Trouble};
use remand_contract::markdown::{code, fenced};
use remand_git::TreeId;
use remand_kernel::change::Digest;
use remand_kernel::finding::Finding;
use remand_kernel::ids::ArtifactId;
use remand_kernel::state::{Filed, FiledStatus};
use std::fmt::Write;

/// The earlier judgement of this dispatch's seat, with what became of each finding, and the files whose changes it shows.
pub fn earlier_judgement(
    narrator: &Narrator<'_>,
    own: usize,
    utterance: &Utterance,
    earlier: &[(usize, &Utterance)],
    difference: &Difference,
) -> Result<(String, Vec<String>), Trouble> {
    let mut text = match &utterance.says {
        Some(verdict) => format!("You judged this work before and ended with {}.\n\n", code(verdict)),
        None => String::new(),
    };
    text.push_str(&narrator.own_words(utterance)?);
    let mut answers = Answers { narrator, difference, quoted: Vec::new() };
    answers.add(own, utterance, earlier, &mut text)?;
    let others = narrator.others(own, utterance.seat)?;
    if !others.is_empty() {
        let _ = write!(text, "\nThe others at that time:\n\n{others}");
    }
    Ok((text, answers.quoted.into_iter().map(|(file, _)| file).collect()))
}

/// The earlier report of this dispatch's seat, with what became of each finding.
pub fn earlier_report(
    narrator: &Narrator<'_>,
    own: usize,
    utterance: &Utterance,
    earlier: &[(usize, &Utterance)],
) -> Result<String, Trouble> {
    let mut text = narrator.own_words(utterance)?;
    let mut answers = Answers { narrator, difference: &Difference::default(), quoted: Vec::new() };
    answers.add(own, utterance, earlier, &mut text)?;
    Ok(text)
}

/// Puts into words what became of findings.
struct Answers<'a> {
    narrator: &'a Narrator<'a>,
    difference: &'a Difference,
    /// The files whose changes have been shown, with the finding that they were shown for.
    quoted: Vec<(String, String)>,
}

impl Answers<'_> {
    /// Adds the findings of a seat's last visit, and those of earlier visits that are still open.
    fn add(
        &mut self,
        own: usize,
        utterance: &Utterance,
        earlier: &[(usize, &Utterance)],
        text: &mut String,
    ) -> Result<(), Trouble> {
        if !utterance.findings.is_empty() {
            text.push_str(
                "\nYour findings, and what became of them. If one is still true, name its id under `repeats`.\n\n",
            );
        }
        for finding in &utterance.findings {
            self.finding(own, finding, text)?;
        }
        let mut is_first = true;
        for (visit, said) in earlier {
            for finding in &said.findings {
                if !self.is_open(finding) || utterance.findings.contains(finding) {
                    continue;
                }
                if std::mem::take(&mut is_first) {
                    text.push_str("\nYour findings of earlier rounds that are still open:\n\n");
                }
                self.finding(*visit, finding, text)?;
            }
        }
        Ok(())
    }

    fn finding(&mut self, visit: usize, finding: &Finding, text: &mut String) -> Result<(), Trouble> {
        text.push_str(&finding_text(finding));
        let _ = writeln!(text, "  - What became of it: {}", self.answer(finding, visit)?);
        Ok(())
    }

    /// The finding as the run keeps it.
    fn filed(&self, finding: &Finding) -> Option<&Filed> {
        let is_same = |filed: &&Filed| filed.finding.id == finding.id && filed.finding.claim == finding.claim;
        self.narrator.filed.iter().rev().find(is_same)
    }

    fn is_open(&self, finding: &Finding) -> bool {
        self.filed(finding).is_some_and(|filed| match filed.status {
            FiledStatus::Open | FiledStatus::PassedOn => true,
            FiledStatus::FollowUp | FiledStatus::Advice | FiledStatus::Superseded | FiledStatus::Settled => {
                false
            }
        })
    }

    /// How a finding was answered since it was reported.
    fn answer(&mut self, finding: &Finding, reported: usize) -> Result<String, Trouble> {
        let narrator = self.narrator;
        for visit in (reported + 1..narrator.history.visits.len()).rev() {
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
        let filed = self.filed(finding);
        let sent_to = filed.and_then(|filed| filed.sent_to).map(|id| &narrator.program.phase(id).name);
        Ok(match (filed.map(|filed| filed.status), sent_to) {
            (Some(FiledStatus::Settled), _) => "it was accepted as dealt with".to_string(),
            (Some(FiledStatus::FollowUp), _) => "it is a follow-up for later".to_string(),
            (Some(FiledStatus::Advice), _) => "it was recorded as advice".to_string(),
            (_, Some(phase)) => {
                format!("it was sent to {}; {}", code(phase), self.changes_for(finding))
            }
            (_, None) => "it was not sent to anybody".to_string(),
        })
    }

    /// What has changed in the file of a finding.
    fn changes_for(&mut self, finding: &Finding) -> String {
        let file = finding.place.file.as_str();
        if let Some((_, shown)) = self.quoted.iter().find(|(quoted, _)| quoted == file) {
            return format!("the changes of {} are with {} above", code(file), code(shown));
        }
        match self.difference.hunks(file) {
            Some(hunks) => {
                self.quoted.push((file.to_string(), finding.id.clone()));
                format!("since then, {} changed:\n\n{}", code(file), fenced(&hunks, "diff", 4))
            }
            None if self.difference.has_tree && !file.is_empty() => {
                format!("{} has not changed since", code(file))
            }
            None => "see what has changed since".to_string(),
        }
    }
}

/// What has changed between two looks at the same work.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Whether trees were compared.
    has_tree: bool,
    patches: Vec<FilePatch>,
}

/// What has changed in one file or document.
#[derive(Clone, Debug)]
struct FilePatch {
    /// The name of a document; `None` for a file of the tree, which the patch names.
    document: Option<String>,
    text: String,
}

impl FilePatch {
    fn is_about(&self, file: &str) -> bool {
        if let Some(document) = &self.document {
            return file == document || file.rsplit_once('.').is_some_and(|(stem, _)| stem == document);
        }
        let names = [format!("--- a/{file}"), format!("+++ b/{file}")];
        let mut header = self.text.lines().take_while(|line| !line.starts_with("@@"));
        header.any(|line| names.iter().any(|name| name == line))
    }

    /// The changed lines, without the header; `None` if there are none to show.
    fn hunks(&self) -> Option<String> {
        let hunks: Vec<&str> = self.text.lines().skip_while(|line| !line.starts_with("@@")).collect();
        (!hunks.is_empty()).then(|| hunks.join("\n"))
    }
}

impl Difference {
    /// The changed lines of a file or document; `None` if nothing in it changed.
    fn hunks(&self, file: &str) -> Option<String> {
        self.patches.iter().find(|patch| patch.is_about(file))?.hunks()
    }

    /// The patches of all files except these.
    pub fn without(&self, files: &[String]) -> String {
        let is_listed = |patch: &&FilePatch| files.iter().any(|file| patch.is_about(file));
        self.patches.iter().filter(|patch| !is_listed(patch)).map(|patch| patch.text.as_str()).collect()
    }

    /// Adds a patch of a tree, which has a header line for each file.
    fn add_tree(&mut self, patch: &str) {
        self.has_tree = true;
        for line in patch.split_inclusive('\n') {
            if line.starts_with("diff --git ") || self.patches.is_empty() {
                self.patches.push(FilePatch { document: None, text: String::new() });
            }
            if let Some(last) = self.patches.last_mut() {
                last.text.push_str(line);
            }
        }
    }
}

/// The difference between what this seat judged last and what it judges now.
pub fn difference(sources: &BriefSources<'_>, utterance: &Utterance) -> Result<Difference, Trouble> {
    let mut difference = Difference::default();
    let Speaker::Agent { reads, tree, .. } = &utterance.speaker else { return Ok(difference) };
    let BriefSources { job, lane, reader, .. } = sources;
    let now = &sources.dispatch.reads;
    let names = |id: &ArtifactId| job.program.artifacts[id.index()].as_str();
    if now.iter().any(|(id, _)| TREES.contains(&names(id)))
        && let Some(before) = tree
    {
        let before: TreeId = before.parse()?;
        // The review is possible without the difference.
        match job.site.repository().patch(&before, &lane.tree) {
            Ok(patch) => difference.add_tree(&String::from_utf8_lossy(&patch)),
            Err(error) => {
                let text = format!("The difference to the tree that you judged cannot be shown: {error}\n");
                difference.patches.push(FilePatch { document: None, text });
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
            let text = job.site.repository().text_difference(names(id), &before, &after)?;
            if !text.is_empty() {
                difference.patches.push(FilePatch { document: Some(names(id).to_string()), text });
            }
        }
    }
    Ok(difference)
}
