//! Plays a demonstration: reports runs as a story, answers gates for the reader, and shows other commands.

use super::catalogue::ChosenDemo;
use super::demonstration::{self, DemoStep, HumanTurn};
use super::project::DemoProject;
use super::story::{Story, StoryOutput};
use remand_engine::host::{DriveEnd, Host};
use remand_engine::workshop::Workshop;
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_kernel::gaps::RetryMode;
use remand_ledger::query::{GateRow, RunRow};
use remand_ledger::{Reader, RunId};
use remand_process::{Cancel, ProcessJob};
use remand_terminal::table::page_width;
use remand_terminal::{CommandFailure, ExitCode, Stop, invocation};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The name under which the demonstration answers and rolls back, in place of a user's name.
const ACTOR: &str = "the demonstration";

/// The exit codes of a command that did its work, however its run ended.
const SUCCESSES: [ExitCode; 4] = [ExitCode::Done, ExitCode::Failed, ExitCode::Waiting, ExitCode::HandedOver];

/// The functions that the binary provides to a demonstration, in the checkout of its project.
pub trait DemoStage {
    /// Starts the run of `remand run WORDS`.
    fn begin(&self, words: &[&str]) -> Result<(Host<Workshop>, RunId), CommandFailure>;
    /// The ledger of the project.
    fn reader(&self) -> Result<Reader, CommandFailure>;
    /// The environment of other commands.
    fn environment(&self) -> BTreeMap<OsString, OsString>;
}

/// A demonstration that is being played.
pub struct Show<'c> {
    stage: &'c dyn DemoStage,
    project: &'c DemoProject,
    story: Story,
    stop: Stop,
}

/// The result of a demonstration.
#[derive(Debug)]
pub struct DemoResult {
    /// Every run, as a row of the ledger.
    pub runs: Vec<RunRow>,
    /// How often work was sent back.
    pub caught: usize,
    pub exit: ExitCode,
}

impl<'c> Show<'c> {
    pub fn new(stage: &'c dyn DemoStage, project: &'c DemoProject, output: StoryOutput) -> Show<'c> {
        let stop = Stop::listen();
        Show { stage, project, story: Story::new(stop.clone(), output), stop }
    }

    /// Plays every step, up to the first run that does not end as it must.
    pub fn play(mut self, choice: &ChosenDemo) -> Result<DemoResult, CommandFailure> {
        let mut runs = Vec::new();
        let mut exit = ExitCode::Done;
        for step in &choice.demonstration.steps {
            match step {
                DemoStep::Run(run) => {
                    let (row, end) = self.run(run)?;
                    runs.push(row);
                    if !run.ends.matches(&end) {
                        exit = exit_code(&end);
                        break;
                    }
                }
                DemoStep::Remand(words) => self.command(words)?,
            }
        }
        Ok(DemoResult { runs, caught: self.story.caught, exit })
    }

    fn run(&mut self, run: &demonstration::Run) -> Result<(RunRow, DriveEnd), CommandFailure> {
        let agent = format!("rehearsal:{}", self.project.sibling(&run.rehearsal).display());
        let words: Vec<&str> = run.words.iter().map(String::as_str).chain(["--agent", &agent]).collect();
        let (mut host, id) = self.stage.begin(&words)?;
        self.story.say_text(&run.saying);
        let mut turns = run.turns.iter();
        let end = loop {
            let ends = host.drive(&mut self.story)?;
            let end = ends.get(&id).cloned().unwrap_or(DriveEnd::Left);
            match (&end, turns.next()) {
                (DriveEnd::Waiting, Some(turn)) => self.take_turn(turn, &mut host, &id)?,
                (DriveEnd::Waiting | DriveEnd::Over(_) | DriveEnd::Left, _) => break end,
            }
        };
        let row = self.stage.reader()?.run(&id.0)?;
        Ok((row, end))
    }

    /// Acts for a human at the open gate, and reports it.
    fn take_turn(
        &mut self,
        turn: &HumanTurn,
        host: &mut Host<Workshop>,
        run: &RunId,
    ) -> Result<(), CommandFailure> {
        let mut open = self.stage.reader()?.gates(run)?;
        open.retain(GateRow::is_open);
        let Some(gate) = open.iter().find(|gate| gate.phase == turn.at()) else {
            let phases: Vec<&str> = open.iter().map(|gate| gate.phase.as_str()).collect();
            let what =
                format!("the demonstration expected the gate {}, not {}", turn.at(), phases.join(", "));
            return Err(CommandFailure::internal(what));
        };
        let event = self.event(turn, gate)?;
        host.submit(run, event, &mut self.story).map_err(CommandFailure::from)
    }

    fn event(&self, turn: &HumanTurn, gate: &GateRow) -> Result<Event, CommandFailure> {
        match turn {
            HumanTurn::Answer(answer) => {
                self.story.answer(gate, &format!("answers for you: {}", answer.option), &answer.note);
                let flags = answer.set.iter().map(|flag| (flag.clone(), true)).collect();
                let id = gate.command.parse().map_err(|error| {
                    CommandFailure::internal_error("the demonstration cannot answer its gate", &error)
                })?;
                let (option, note) = (answer.option.clone(), answer.note.clone());
                Ok(Event::Answered {
                    id,
                    option,
                    by: ACTOR.to_string(),
                    note,
                    flags,
                    grants: Grants::AskedFor,
                })
            }
            HumanTurn::RollBack(back) => {
                self.story.answer(gate, &format!("rolls back to round {}", back.to), &back.note);
                let (reason, context) = (back.note.clone(), back.context.clone());
                let mode = if context.is_empty() { RetryMode::SamePrompt } else { RetryMode::ExtraContext };
                Ok(Event::RolledBack { to: back.to, by: ACTOR.to_string(), reason, mode, context })
            }
        }
    }

    /// Runs another command of this program as a child process, to capture its output.
    fn command(&self, words: &[String]) -> Result<(), CommandFailure> {
        if self.stop.is_set() {
            return Ok(());
        }
        let program = std::env::current_exe().map_err(|error| {
            CommandFailure::internal_error("the path of this program cannot be determined", &error)
        })?;
        let argv = std::iter::once(program.into_os_string()).chain(words.iter().map(Into::into));
        let mut job = ProcessJob::standalone(argv, self.project.checkout(), "demo");
        // The state directory comes from the environment or the project's git directory, as for the run.
        job.environment = self.stage.environment();
        job.environment.insert("COLUMNS".into(), page_width().to_string().into());
        let ended = remand_process::run(&job, &Cancel::new())
            .map_err(|error| CommandFailure::internal_error("this program cannot be started", &error))?;
        let line = words.join(" ");
        let is_success = |code: i32| SUCCESSES.iter().any(|exit| i32::from(exit.number()) == code);
        if !matches!(ended.exit, remand_process::Exit::Code(code) if is_success(code)) {
            let what = format!("`remand {line}` ended with {}", ended.exit);
            return Err(CommandFailure::internal(what).caused_by(ended.stderr.text().trim().to_string()));
        }
        self.story.say(&format!("\n  $ remand {line}\n\n{}", ended.stdout.text().trim_end()));
        Ok(())
    }
}

/// The command line of a run, as the user would type it.
pub fn command_line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| invocation::quoted(word)).collect();
    format!("remand run {}", words.join(" "))
}

fn exit_code(end: &DriveEnd) -> ExitCode {
    match end {
        DriveEnd::Over(_) => ExitCode::Failed,
        DriveEnd::Waiting => ExitCode::Waiting,
        DriveEnd::Left => ExitCode::Interrupted,
    }
}
