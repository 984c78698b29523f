//! The end of a drive: the status of the run, what it cost, and what the user can do next.

use crate::gate;
use crate::retrying;
use crate::workplace::Workplace;
use remand_engine::host::DriveEnd;
use remand_engine::workshop::{missing_from_folder, not_on_branch};
use remand_ledger::fact::Delivery;
use remand_ledger::query::RunStage;
use remand_ledger::{Reader, RunId, RunView};
use remand_terminal::output::tell;
use remand_terminal::table::{Cell, FieldList};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount, invocation, line};
use serde_json::{Value, json};

/// The maximum length of a refusal in the summary, in columns.
const MAX_REASON: usize = 600;

/// What is shown about a run when this process stops driving it.
pub struct RunClosing<'c> {
    workplace: &'c Workplace,
    reader: &'c Reader,
    view: RunView,
    /// The command that retries the run, if it is over and can be retried.
    retry: Option<String>,
}

impl<'c> RunClosing<'c> {
    pub fn read(
        workplace: &'c Workplace,
        reader: &'c Reader,
        run: &RunId,
    ) -> Result<RunClosing<'c>, CommandFailure> {
        let view = reader.run_view(run)?;
        let retry = view.row.stage.is_over().then(|| retrying::command_for(reader, run)).flatten();
        Ok(RunClosing { workplace, reader, view, retry })
    }

    /// The run as this process leaves it. This process still holds the lock of the run, so a reader would report the
    /// run as still driven.
    #[must_use]
    pub fn left_at(mut self, end: &DriveEnd) -> RunClosing<'c> {
        let stage = &mut self.view.row.stage;
        *stage = match end {
            DriveEnd::Over(_) => *stage,
            DriveEnd::Waiting if *stage == RunStage::Paused => RunStage::Paused,
            DriveEnd::Waiting => RunStage::Waiting,
            DriveEnd::Left => RunStage::Interrupted,
        };
        self
    }

    pub fn exit(&self) -> ExitCode {
        match self.view.row.stage {
            RunStage::Committed => ExitCode::Done,
            RunStage::LeftToYou => ExitCode::HandedOver,
            RunStage::Failed | RunStage::Stopped => ExitCode::Failed,
            RunStage::Waiting | RunStage::Paused => ExitCode::Waiting,
            RunStage::Running | RunStage::Interrupted => ExitCode::Interrupted,
        }
    }

    /// Warns about documents of a run that is over, if they could not be written.
    pub fn warn(&self) {
        let row = &self.view.row;
        if !row.stage.is_over() {
            return;
        }
        let folder = self.workplace.home.run(&row.run);
        let resume = invocation::command(format!("resume {}", row.run));
        let missing = [
            ("the documents of the run are not on its branch", not_on_branch(&folder)),
            ("the folder of the run is incomplete", missing_from_folder(&folder)),
        ];
        for (what, why) in missing {
            if let Some(why) = why {
                tell(&format!("{what}: {why}; fix this, then run `{resume}`"));
            }
        }
    }

    pub fn json(&self) -> Value {
        let (view, row) = (&self.view, &self.view.row);
        let gates: Vec<_> = view
            .gates
            .iter()
            .map(|gate| json!({ "gate": gate.command, "question": gate.question }))
            .collect();
        json!({
            "run": row.run, "stage": row.stage, "reason": row.reason, "confidence": view.confidence(),
            "branch": row.branch, "used": row.used, "currency": amount::CURRENCY,
            "untold": view.unreported_tokens, "gates": gates, "take": self.take(), "retry": self.retry,
            "exit": self.exit().number(),
        })
    }

    pub fn text(&self, ink: Ink) -> Result<String, CommandFailure> {
        let (row, gates) = (&self.view.row, &self.view.gates);
        let mut text = format!("\n{}\n", ink.paint(Tone::of_stage(row.stage), &self.headline()));
        match row.stage {
            RunStage::Waiting => {
                for gate in gates {
                    text.push_str(&format!("\n{}", gate::text_of(self.reader, gate, gates, ink)?));
                }
            }
            RunStage::Paused | RunStage::Running | RunStage::Interrupted => {
                let mut fields = self.spending();
                fields.add_whole("continue", invocation::command(format!("resume {}", row.run)));
                fields.add_whole("end it", invocation::command(format!("cancel {}", row.run)));
                text.push_str(&fields.render(ink));
            }
            RunStage::Committed | RunStage::LeftToYou | RunStage::Failed | RunStage::Stopped => {
                let mut fields = self.ending()?;
                let commands = ["log", "evidence", "diff"];
                for (at, name) in commands.into_iter().enumerate() {
                    let label = if at == 0 { "details" } else { "" };
                    fields.add_whole(label, invocation::command(format!("{name} {}", row.run)));
                }
                text.push_str(&fields.render(ink));
                // Lines that can be copied, such as a missing entry of a rehearsal, stay as they are.
                if let Some(why) = self.failure()?.filter(|why| why.contains('\n')) {
                    text.push_str(&format!("because {why}\n"));
                }
            }
        }
        Ok(text)
    }

    /// Why the run failed, if it did.
    fn failure(&self) -> Result<Option<String>, CommandFailure> {
        let row = &self.view.row;
        if row.stage != RunStage::Failed {
            return Ok(None);
        }
        let rulings = self.reader.rulings(&row.run, 0)?;
        Ok(rulings.last().map(|last| format!("{}: {}", last.ruling.phase, last.ruling.why)))
    }

    /// The outcome of a run that is over, without commands for details.
    pub fn summary(&self, ink: Ink) -> Result<String, CommandFailure> {
        let headline = ink.paint(Tone::of_stage(self.view.row.stage), &self.headline());
        Ok(format!("\n{headline}\n{}", self.ending()?.render(ink)))
    }

    fn headline(&self) -> String {
        let row = &self.view.row;
        match row.stage {
            RunStage::Committed => {
                format!("{}, confidence {}", row.outcome(), self.view.confidence().name())
            }
            RunStage::Waiting => format!("{} for you", row.outcome()),
            RunStage::Running
            | RunStage::Paused
            | RunStage::Interrupted
            | RunStage::LeftToYou
            | RunStage::Failed
            | RunStage::Stopped => row.outcome(),
        }
    }

    /// The fields of a run that is over.
    fn ending(&self) -> Result<FieldList, CommandFailure> {
        let mut fields = self.spending();
        match &self.view.delivery {
            Some(Delivery::Committed { commit, branch, file, .. }) => {
                let file = file.as_ref().map_or_else(String::new, |file| format!(", as {file}"));
                fields.add("commit", format!("{} on {branch}{file}", commit.get(..12).unwrap_or(commit)));
            }
            Some(Delivery::Refused { .. } | Delivery::HandedOver { .. } | Delivery::Nothing) | None => {}
        }
        if let Some(
            Delivery::Refused { reason, hook: Some(_) } | Delivery::HandedOver { reason, hook: Some(_), .. },
        ) = &self.view.delivery
        {
            fields.add("because", line::cut(&line::one(reason), MAX_REASON));
        }
        if let Some(why) = self.failure()?.filter(|why| !why.contains('\n')) {
            fields.add("because", why);
        }
        if let Some(take) = self.take() {
            fields.add_whole("take it", Cell::new(take).toned(Tone::Strong));
        }
        if let Some(Delivery::HandedOver { discard, .. }) = &self.view.delivery {
            fields.add_whole("discard it", discard);
        }
        if let Some(retry) = &self.retry {
            fields.add_whole("retry", format!("{retry}  # keeps everything before the failed phase"));
        }
        Ok(fields)
    }

    /// What the run has cost so far.
    fn spending(&self) -> FieldList {
        let (view, row) = (&self.view, &self.view.row);
        let mut fields = FieldList::new();
        fields.add("run", &row.run.0);
        let cost = amount::money(row.used.money);
        fields.add("cost", amount::sum_or_unknown(cost, row.used.unpriced, row.used.dispatches));
        fields.add(
            "took",
            format!(
                "{}, {}, {}",
                amount::time(row.used.time),
                amount::counted(row.used.dispatches, "dispatch"),
                amount::tokens(row.used.tokens, view.unreported_tokens)
            ),
        );
        fields
    }

    /// The command that takes the work into the current branch, if there is work to take.
    fn take(&self) -> Option<String> {
        let row = &self.view.row;
        match &self.view.delivery {
            Some(Delivery::Committed { branch, .. }) if row.reason.is_none() => {
                Some(format!("git merge {branch}"))
            }
            Some(Delivery::HandedOver { take, .. }) => Some(take.clone()),
            Some(Delivery::Committed { .. } | Delivery::Refused { .. } | Delivery::Nothing) | None => None,
        }
    }
}
