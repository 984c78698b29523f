//! The figures of one run: entries and remands of its phases, and the defects that each phase injected and removed.

use crate::pinned::Pinned;
use crate::row_names::{MERGED, REVERT};
use remand_kernel::change::Digest;
use remand_ledger::query::{ArtifactRow, CheckFilter, DefectResolution, DefectRow, RulingKind, RunRow};
use remand_ledger::{LedgerError, Reader, ReplayFrom, Replayed, RunId, replay};
use serde::Serialize;
use std::collections::BTreeSet;

/// The figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFigures {
    pub run: RunId,
    pub workflow: String,
    /// The phases that the run entered or that injected a defect, in the order of the workflow.
    pub phases: Vec<PhaseFigures>,
    /// Lines that the result of the run adds and removes.
    pub changed_lines: u64,
}

/// The figures of one phase in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseFigures {
    pub phase: String,
    /// How often it was entered.
    pub entries: u64,
    /// How often work was sent back to it.
    pub remands: u64,
    /// Defects that it injected.
    pub injected: u64,
    /// Defects that were present when the work reached it.
    pub entering: u64,
    /// Defects that it found and that were corrected.
    pub removed: u64,
    /// The cost of correcting the defects that it injected.
    pub correction: Cost,
}

/// The cost of corrections. Defects share the cost of a dispatch that handled several of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    pub defects: u64,
    pub dispatches: f64,
    /// Sum of the known token counts.
    pub tokens: u64,
    /// Dispatches with an unknown token count.
    #[serde(rename = "untold")]
    pub unmetered: f64,
    /// Known cost, in micro-units of the currency.
    pub money: u64,
    /// Dispatches with unknown cost.
    pub unpriced: f64,
    /// Milliseconds of work.
    pub time: u64,
}

impl PhaseFigures {
    /// Remands per entry; `None` if the phase was never entered.
    pub fn rate(&self) -> Option<f64> {
        (self.entries > 0).then(|| ratio(self.remands, self.entries))
    }
}

impl Cost {
    pub(super) fn add(&mut self, other: Cost) {
        self.defects += other.defects;
        self.dispatches += other.dispatches;
        self.tokens += other.tokens;
        self.unmetered += other.unmetered;
        self.money += other.money;
        self.unpriced += other.unpriced;
        self.time += other.time;
    }

    fn of(defect: &DefectRow) -> Cost {
        Cost {
            defects: 1,
            dispatches: defect.shared.dispatches,
            tokens: defect.tokens,
            unmetered: defect.shared.unmetered,
            money: defect.money,
            unpriced: defect.shared.unpriced,
            time: defect.time,
        }
    }
}

impl RunFigures {
    /// Computes the figures of a run.
    pub fn of(reader: &Reader, row: &RunRow) -> Result<RunFigures, LedgerError> {
        let visits = visits(reader, &row.run)?;
        let order = phase_order(reader, row)?
            .unwrap_or_else(|| visits.iter().map(|(phase, _)| phase.clone()).collect());
        let mut phases: Vec<PhaseFigures> =
            order.into_iter().map(|phase| PhaseFigures { phase, ..PhaseFigures::default() }).collect();
        for (phase, entries) in visits {
            if let Some(figures) = phases.iter_mut().find(|figures| figures.phase == phase) {
                figures.entries = entries;
            }
        }
        for ruling in reader.rulings(&row.run, 0)? {
            let target = ruling.ruling.target.filter(|_| ruling.kind == Some(RulingKind::Remand));
            if let Some(figures) = phases.iter_mut().find(|figures| Some(&figures.phase) == target.as_ref()) {
                figures.remands += 1;
            }
        }
        for defect in &reader.defects(&row.run)? {
            add_defect(&mut phases, defect);
        }
        phases.retain(|figures| figures.entries > 0 || figures.injected > 0);
        let changed_lines = changed_lines(reader, &row.run)?;
        Ok(RunFigures { run: row.run.clone(), workflow: row.workflow.clone(), phases, changed_lines })
    }

    pub fn phase(&self, name: &str) -> Option<&PhaseFigures> {
        self.phases.iter().find(|figures| figures.phase == name)
    }
}

/// Adds a defect. It was present from the phase that injected it to the phase that removed it, or to the end if it was not
/// corrected. If it has several origins, the earliest counts. If its origin is unknown, it counts for the phase that found
/// it. The cost of a duplicate report is part of the correction.
fn add_defect(phases: &mut [PhaseFigures], defect: &DefectRow) {
    let at = |name: &String| phases.iter().position(|figures| figures.phase == *name);
    let Some(found) = at(&defect.detected) else {
        return;
    };
    let from = defect.injected.iter().filter_map(at).min().unwrap_or(found).min(found);
    if defect.resolution == DefectResolution::ReportedAgain {
        phases[from].correction.add(Cost { defects: 0, ..Cost::of(defect) });
    }
    if !defect.resolution.counts_as_defect() {
        return;
    }
    phases[from].injected += 1;
    phases[from].correction.add(Cost::of(defect));
    let is_removed = matches!(defect.resolution, DefectResolution::Corrected | DefectResolution::PassedOn);
    let last = if is_removed { found } else { phases.len() - 1 };
    for figures in &mut phases[from + 1..=last] {
        figures.entering += 1;
    }
    phases[found].removed += u64::from(is_removed);
}

/// The phases of the run's workflow, in order; `None` if this version cannot read the workflow.
pub(super) fn phase_order(reader: &Reader, row: &RunRow) -> Result<Option<Vec<String>>, LedgerError> {
    let blob = reader.blob(row.pinned)?;
    let pinned: Option<Pinned> = serde_json::from_slice(&blob).ok();
    Ok(pinned.map(|pinned| pinned.program.phases.iter().map(|phase| phase.name.clone()).collect()))
}

/// How often each phase was entered, ordered by first entry. A command id consists of phase, lane, visit and then the
/// seat, so all commands of a visit share the part before the seat.
fn visits(reader: &Reader, run: &RunId) -> Result<Vec<(String, u64)>, LedgerError> {
    let dispatches = reader.dispatches(run)?.into_iter().map(|row| (row.seq, row.phase, row.command));
    let operations = reader.operations(run)?.into_iter().map(|row| (row.seq, row.phase, row.command));
    let gates = reader.gates(run)?.into_iter().map(|row| (row.seq, row.phase, row.command));
    let mut commands: Vec<(u64, String, String)> = dispatches.chain(operations).chain(gates).collect();
    commands.sort();
    let mut phases: Vec<(String, BTreeSet<String>)> = Vec::new();
    for (_, phase, command) in commands {
        let visit = command.split(".s").next().unwrap_or_default().to_string();
        match phases.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, visits)) => {
                visits.insert(visit);
            }
            None => phases.push((phase, BTreeSet::from([visit]))),
        }
    }
    Ok(phases.into_iter().map(|(phase, visits)| (phase, visits.len() as u64)).collect())
}

/// The changed lines in the result: those of the last patch of the whole tree, and of tasks merged after it. A task that
/// is merged again adds only its later changes; a reverted task adds nothing.
fn changed_lines(reader: &Reader, run: &RunId) -> Result<u64, LedgerError> {
    let patches = patches(reader, run)?;
    let last = |part: &str, until: u64| {
        let versions = patches.iter().filter(|row| row.part == part && row.seq <= until);
        versions.max_by_key(|row| row.seq)
    };
    let whole = last("", u64::MAX);
    let checks = reader.checks(run, CheckFilter::default())?;
    let is_reverted = |task: &str| checks.iter().any(|row| row.name == format!("{REVERT}{task}"));
    let mut counted: Vec<&ArtifactRow> =
        whole.filter(|row| is_in_result(reader, run, row)).into_iter().collect();
    for merge in reader.operations(run)?.iter().filter(|row| row.result.as_deref() == Some(MERGED)) {
        let task = merge.task.as_deref().filter(|task| !is_reverted(task));
        let is_covered = whole.is_some_and(|whole| whole.seq > merge.seq);
        counted.extend(task.filter(|_| !is_covered).and_then(|task| last(task, merge.seq)));
    }
    let mut lines = 0;
    for row in counted {
        lines += patch_lines(&String::from_utf8_lossy(&reader.blob(row.blob)?));
    }
    Ok(lines)
}

/// All versions of all patches.
fn patches(reader: &Reader, run: &RunId) -> Result<Vec<ArtifactRow>, LedgerError> {
    let is_patch = |row: &ArtifactRow| row.format == "patch";
    let names: BTreeSet<String> =
        reader.artifacts(run)?.into_iter().filter(is_patch).map(|row| row.name).collect();
    let mut patches = Vec::new();
    for name in names {
        patches.extend(reader.artifact_versions(run, &name)?.into_iter().filter(is_patch));
    }
    Ok(patches)
}

/// Whether a patch of the whole tree is part of the result: false if the tree was reverted to the base, true if the run
/// cannot be replayed.
fn is_in_result(reader: &Reader, run: &RunId, patch: &ArtifactRow) -> bool {
    let Ok(Replayed { program, state, .. }) = replay(reader, run, ReplayFrom::Snapshot) else { return true };
    let artifact = program.artifact_named(&patch.name);
    artifact.is_none_or(|artifact| state.digest(artifact) != Digest::default())
}

/// The lines that a patch adds or removes. Lines before the first hunk of a file belong to its header.
fn patch_lines(patch: &str) -> u64 {
    let mut in_hunk = false;
    let mut lines = 0;
    for line in patch.lines() {
        match line.as_bytes().first() {
            Some(b'@') => in_hunk = true,
            Some(b'd') => in_hunk = false,
            Some(b'+' | b'-') if in_hunk => lines += 1,
            Some(_) | None => {}
        }
    }
    lines
}

/// The ratio of two counts.
#[allow(clippy::cast_precision_loss, reason = "the counts fit exactly into a double")]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_kernel::finding::{Category, Location, Severity};
    use remand_ledger::query::SharedCost;

    fn defect(injected: &str, detected: &str, resolution: DefectResolution) -> DefectRow {
        DefectRow {
            position: 0,
            id: "F-1".to_string(),
            severity: Severity::Major,
            category: Category::Correctness,
            place: Location::default(),
            claim: "It is wrong".to_string(),
            injected: vec![injected.to_string()],
            assumed: false,
            detected: detected.to_string(),
            attempts: Vec::new(),
            shared: SharedCost::default(),
            tokens: 10,
            unmetered: 0,
            money: 0,
            unpriced: 0,
            time: 0,
            resolution,
            reattributions: Vec::new(),
        }
    }

    // PF-10
    #[test]
    fn a_defect_enters_every_phase_until_it_is_removed() {
        let figures = |phase: &str| PhaseFigures { phase: phase.to_string(), ..PhaseFigures::default() };
        let mut phases = ["planning", "code", "code-review", "test"].map(figures);
        add_defect(&mut phases, &defect("planning", "code-review", DefectResolution::Corrected));
        add_defect(&mut phases, &defect("code", "code-review", DefectResolution::KnownIssue));
        let counts = phases.each_ref().map(|figures| (figures.injected, figures.entering, figures.removed));
        assert_eq!(counts, [(1, 0, 0), (1, 1, 0), (0, 2, 1), (0, 1, 0)]);
        assert_eq!(phases[0].correction.tokens, 10);
    }

    // PF-09, PF-10
    #[test]
    fn the_cost_of_a_duplicate_report_is_part_of_the_correction() {
        let mut phases = [PhaseFigures { phase: "code".to_string(), ..PhaseFigures::default() }];
        add_defect(&mut phases, &defect("code", "code", DefectResolution::ReportedAgain));
        add_defect(&mut phases, &defect("code", "code", DefectResolution::Withdrawn));
        add_defect(&mut phases, &defect("code", "code", DefectResolution::Corrected));
        let correction = phases[0].correction;
        assert_eq!((phases[0].injected, correction.defects, correction.tokens), (1, 1, 20));
    }

    #[test]
    fn only_lines_of_hunks_count() {
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n+--- more\ndiff --git a/y b/y\n\
                     new file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+one\n";
        assert_eq!(patch_lines(patch), 4);
        assert_eq!(patch_lines(""), 0);
    }
}
