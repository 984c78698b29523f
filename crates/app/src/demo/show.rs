//! Plays a demonstration: runs told as stories, gates answered in the reader's place, other commands shown.

use super::catalogue::Choice;
use super::demonstration::{self, Step, Turn};
use super::project::Project;
use super::story::{Story, Telling};
use crate::commands::{Context, run};
use crate::driving;
use crate::exit::{Exit, Failure};
use crate::progress::Stop;
use crate::workplace::{Workplace, environment, internal, of_ledger};
use clap::Parser;
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_kernel::gaps::RetryMode;
use remand_ledger::RunId;
use remand_ledger::query::{GateRow, RunRow};
use remand_runtime::host::{Host, Standing};
use remand_runtime::process::{self, Cancel, Job};
use remand_runtime::workshop::Workshop;

/// Who answers and rolls back, so that no name of a person stands under what they did not do.
const ACTOR: &str = "the demonstration";

/// How a command ends that did its work, whatever became of the run that it drove.
const WORKED: [Exit; 4] = [Exit::Done, Exit::Failed, Exit::Waiting, Exit::HandedOver];

/// What the words of a run are read as.
#[derive(Debug, Parser)]
#[command(name = "remand run", no_binary_name = true)]
struct Words {
    #[command(flatten)]
    args: run::Args,
}

/// A demonstration that is being played.
pub struct Show<'c> {
    context: &'c Context<'c>,
    project: &'c Project,
    story: Story,
    stop: Stop,
}

/// What came of it.
#[derive(Debug)]
pub struct Played {
    /// Every run, as the ledger has it.
    pub runs: Vec<RunRow>,
    /// How often work was sent back.
    pub caught: usize,
    pub exit: Exit,
}

impl<'c> Show<'c> {
    /// `context` is that of the checkout of the project.
    pub fn new(context: &'c Context<'c>, project: &'c Project) -> Show<'c> {
        let stop = Stop::listen();
        let telling = if context.json { Telling::Silent } else { Telling::Aloud };
        Show { context, project, story: Story::new(stop.clone(), telling), stop }
    }

    /// Plays every step, up to the first run that does not end as it has to.
    pub fn play(mut self, choice: &Choice) -> Result<Played, Failure> {
        let mut runs = Vec::new();
        let mut exit = Exit::Done;
        for step in &choice.demonstration.steps {
            match step {
                Step::Run(run) => {
                    let (row, standing) = self.run(run)?;
                    runs.push(row);
                    if !run.ends.fits(&standing) {
                        exit = of_standing(&standing);
                        break;
                    }
                }
                Step::Remand(words) => self.command(words)?,
            }
        }
        Ok(Played { runs, caught: self.story.caught, exit })
    }

    fn run(&mut self, run: &demonstration::Run) -> Result<(RunRow, Standing), Failure> {
        let agent = format!("rehearsal:{}", self.project.beside(&run.rehearsal).display());
        let words = run.words.iter().map(String::as_str).chain(["--agent", &agent]);
        let args = Words::try_parse_from(words)
            .map_err(|error| internal("the words of a run are not understood", &error))?
            .args;
        let (workplace, beginning) = run::prepare(self.context, &args)?;
        let id = beginning.run.clone();
        self.story.say(&run.saying);
        let mut host = driving::host(&workplace)?;
        host.begin(beginning).map_err(|error| driving::of_host(&error))?;
        let mut turns = run.turns.iter();
        let standing = loop {
            let standings = host.drive(&mut self.story).map_err(|error| driving::of_host(&error))?;
            let standing = standings.get(&id).cloned().unwrap_or(Standing::Left);
            match (&standing, turns.next()) {
                (Standing::Waiting, Some(turn)) => self.take(turn, &mut host, &workplace, &id)?,
                (Standing::Waiting | Standing::Over(_) | Standing::Left, _) => break standing,
            }
        };
        let row = workplace.reader()?.run(&id.0).map_err(|error| of_ledger(&error))?;
        Ok((row, standing))
    }

    /// Does what a human would do at the gate that the run waits at, and says so.
    fn take(
        &mut self,
        turn: &Turn,
        host: &mut Host<Workshop>,
        workplace: &Workplace,
        run: &RunId,
    ) -> Result<(), Failure> {
        let open = driving::open_gates(&workplace.reader()?, run)?;
        let Some(gate) = open.iter().find(|gate| gate.phase == turn.at()) else {
            let asked: Vec<&str> = open.iter().map(|gate| gate.phase.as_str()).collect();
            let what = format!("the demonstration expected the gate {}, not {}", turn.at(), asked.join(", "));
            return Err(Failure {
                exit: Exit::Internal,
                ..Failure::user(what, "this is a defect of remand")
            });
        };
        let event = self.event(turn, gate)?;
        host.submit(run, event, &mut self.story).map_err(|error| driving::of_host(&error))
    }

    fn event(&self, turn: &Turn, gate: &GateRow) -> Result<Event, Failure> {
        match turn {
            Turn::Answer(answer) => {
                self.story.answer(gate, &format!("answers for you: {}", answer.option), &answer.note);
                let flags = answer.set.iter().map(|flag| (flag.clone(), true)).collect();
                let id = driving::gate_id(gate)?;
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
            Turn::RollBack(back) => {
                self.story.answer(gate, &format!("rolls back to round {}", back.to), &back.note);
                let (reason, context) = (back.note.clone(), back.context.clone());
                let mode = if context.is_empty() { RetryMode::SamePrompt } else { RetryMode::ExtraContext };
                Ok(Event::RolledBack { to: back.to, by: ACTOR.to_string(), reason, mode, context })
            }
        }
    }

    /// Runs another command of this program as a child, since only that keeps standard output pure.
    fn command(&self, words: &[String]) -> Result<(), Failure> {
        if self.stop.is_set() {
            return Ok(());
        }
        let program =
            std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
        let argv = std::iter::once(program.into_os_string()).chain(words.iter().map(Into::into));
        let mut job = Job::apart(argv, self.project.checkout(), "demo");
        // Where the state is, it finds as the run did: by its environment, or by the git directory of the project.
        let inherited = environment().into_iter();
        job.environment = inherited.map(|(name, value)| (name.into(), value.into())).collect();
        let ended = process::run(&job, &Cancel::new())
            .map_err(|error| internal("this program cannot be started", &error))?;
        let line = words.join(" ");
        let worked = |code: i32| WORKED.iter().any(|exit| i32::from(exit.number()) == code);
        if !matches!(ended.exit, process::Exit::Code(code) if worked(code)) {
            let what = format!("`remand {line}` ended with {}", ended.exit);
            let failure =
                Failure { exit: Exit::Internal, ..Failure::user(what, "this is a defect of remand") };
            return Err(failure.caused_by(ended.stderr.text().trim().to_string()));
        }
        self.story.say(&format!("\n  $ remand {line}\n\n{}", ended.stdout.text().trim_end()));
        Ok(())
    }
}

/// The command line of a run, as one types it.
pub fn typed(words: &[String]) -> String {
    let quoted = |word: &String| match word.contains(char::is_whitespace) {
        true => format!("\"{}\"", word.replace('"', "\\\"")),
        false => word.clone(),
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    format!("remand run {}", words.join(" "))
}

fn of_standing(standing: &Standing) -> Exit {
    match standing {
        Standing::Over(_) => Exit::Failed,
        Standing::Waiting => Exit::Waiting,
        Standing::Left => Exit::Left,
    }
}
