//! Everything about one run that fits on a screen: its view, its drawing, its lanes and what its agents print.

use crate::lanes::{LaneBar, lane_bars};
use crate::marks::run_marks;
use crate::problem::ViewProblem;
use crate::progress::standing;
use crate::repository::RepositoryState;
use crate::site::RunSite;
use crate::transcript::transcript;
use crate::words::given_answer;
use remand_drawings::marks::RunMarks;
use remand_engine::pinned::Pinned;
use remand_engine::question::ApprovalRequest;
use remand_kernel::Program;
use remand_kernel::event::Limits;
use remand_kernel::state::UsageTotals;
use remand_ledger::query::{DispatchRow, DispatchStatus, GateRow, RulingRow};
use remand_ledger::{Millis, RunChange, RunId, RunView};

/// The last events whose lines are shown.
const EVENTS: u64 = 200;

/// The end of a transcript that is shown, in bytes.
const TAIL: u64 = 32 * 1024;

/// One run as it is now.
pub struct RunSight {
    pub repository: RepositoryState,
    pub view: RunView,
    /// `None` if this version cannot read the workflow of the run.
    pub program: Option<Program>,
    pub marks: RunMarks,
    pub gates: Vec<OpenGate>,
    pub rulings: Vec<RulingRow>,
    /// The latest events, oldest first.
    pub changes: Vec<RunChange>,
    pub lanes: Vec<LaneBar>,
    /// The dispatch that was issued last and has printed something, and the end of its transcript.
    pub transcript: Option<(DispatchRow, String)>,
    /// Whether a process drives the run.
    pub is_driven: bool,
}

/// A gate that waits for an answer.
pub struct OpenGate {
    pub gate: GateRow,
    pub request: ApprovalRequest,
    /// The flags that an answer may set.
    pub flags: Vec<String>,
    /// An answer that no process has handled yet.
    pub given: Option<String>,
}

impl RunSight {
    pub fn read(
        site: &RunSite,
        repository: &RepositoryState,
        run: &RunId,
        now: Millis,
    ) -> Result<RunSight, ViewProblem> {
        let reader = repository.reader()?;
        let view = reader.run_view(run)?;
        let run = &view.row.run;
        let program = Pinned::parse(&reader.blob(view.row.pinned)?).map(|pinned| pinned.program);
        let rulings = reader.rulings(run, 0)?;
        let detail = view.detail.as_ref();
        let marks = program.as_ref().map(|program| {
            let budgets = detail.map_or(&[][..], |detail| detail.budgets.as_slice());
            run_marks(program, detail.map(|detail| &detail.position), &rulings, budgets)
        });
        let mut gates = Vec::new();
        for gate in &view.gates {
            gates.push(OpenGate {
                request: ApprovalRequest::read(&reader, gate)?,
                flags: flags_of(program.as_ref(), gate),
                given: given_answer(repository, &reader, gate)?,
                gate: gate.clone(),
            });
        }
        let dispatches = reader.dispatches(run)?;
        let end = if view.row.stage.is_over() { view.row.updated_at.0 } else { now.0 };
        let lanes = lane_bars(&dispatches, &reader.operations(run)?, &reader.gates(run)?, end);
        let is_running = |row: &&DispatchRow| row.status == DispatchStatus::Running;
        let latest = dispatches.iter().rev().find(is_running).or(dispatches.last());
        let transcript = match latest {
            Some(row) => {
                let tail = transcript(site, repository, &reader, row, TAIL)?;
                Some((row.clone(), String::from_utf8_lossy(&tail.bytes).into_owned()))
            }
            None => None,
        };
        Ok(RunSight {
            changes: reader.changes_since(run, view.seq.saturating_sub(EVENTS))?,
            is_driven: repository.is_driven(run),
            marks: marks.unwrap_or_default(),
            repository: repository.clone(),
            program,
            gates,
            rulings,
            lanes,
            transcript,
            view,
        })
    }
}

impl RunSight {
    /// Where the run is and what it has used, in the words that `remand run` shows while it drives one.
    pub fn standing(&self) -> String {
        let (row, view) = (&self.view.row, &self.view);
        let used = UsageTotals {
            dispatches: row.used.dispatches,
            money: row.used.money,
            unpriced: row.used.unpriced,
            tokens: row.used.tokens,
            unmetered: view.unreported_tokens,
            time: row.used.time,
        };
        let limits = Limits {
            money: row.limits.money,
            tokens: row.limits.tokens,
            time: row.limits.time,
            dispatches: row.limits.dispatches,
        };
        standing(&row.place, &used, &limits)
    }
}

/// The flags of the question that an answer may set.
pub fn flags_of(program: Option<&Program>, gate: &GateRow) -> Vec<String> {
    let Some(program) = program else { return Vec::new() };
    let phase = program.phase_named(&gate.phase).map(|id| program.phase(id));
    let flags = phase.into_iter().flat_map(|phase| &phase.sets);
    flags.filter_map(|flag| program.flags.get(flag.index()).cloned()).collect()
}
