//! Plain lines on standard error, for logs and pipes.

use remand_engine::activity::ActivityBoard;
use remand_engine::host::{CommittedStep, DriveWatch, ResumedRun};
use remand_kernel::{Command, Program};
use remand_ledger::RunId;
use remand_terminal::output::tell;
use remand_terminal::{Ink, Stop, Tone, line};
use remand_views::progress::{self as words, ProgressLine};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The minimum time between two lines about the same running command.
const PAUSE: Duration = Duration::from_secs(30);

/// Prints lines for each step, with the time since the start.
#[derive(Debug)]
pub struct Plain {
    stop: Stop,
    started: Instant,
    activity: ActivityBoard,
    /// The running commands: what each is, when it last printed a line, and what that line said.
    running: BTreeMap<(RunId, String), RunningCommand>,
}

#[derive(Debug)]
struct RunningCommand {
    text: String,
    printed_at: Instant,
    doing: String,
}

impl Plain {
    pub fn new(stop: Stop, activity: ActivityBoard) -> Plain {
        Plain { stop, started: Instant::now(), activity, running: BTreeMap::new() }
    }
}

impl Plain {
    fn print(&self, lines: &[ProgressLine]) {
        for line in lines {
            line.render(self.started.elapsed(), Ink::of_stderr(), None).iter().for_each(|part| tell(part));
        }
    }
}

impl Plain {
    fn add(&mut self, run: &RunId, program: &Program, commands: &[Command]) {
        for command in words::running(program, commands) {
            let line = RunningCommand {
                text: line::one(&command.text),
                printed_at: Instant::now(),
                doing: String::new(),
            };
            self.running.insert((run.clone(), command.id.unwrap_or_default()), line);
        }
    }
}

impl DriveWatch for Plain {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        self.add(resumed.run, resumed.program, resumed.open);
        self.print(&words::resumed(resumed));
    }

    fn committed(&mut self, committed: &CommittedStep<'_>) {
        let change = words::change(committed);
        self.print(&words::lines(committed.run, &committed.program.name, &change));
        for id in change.closed {
            self.running.remove(&(committed.run.clone(), id));
        }
        self.add(committed.run, committed.program, &committed.step.commands);
    }

    fn waiting(&mut self) {
        let mut lines = Vec::new();
        for ((run, command), running) in &mut self.running {
            if running.printed_at.elapsed() < PAUSE {
                continue;
            }
            if let Some(doing) = self.activity.line(run, command).filter(|doing| *doing != running.doing) {
                let text = format!("  {}: {}", running.text, line::one(&doing));
                lines.push(ProgressLine { tone: Tone::Faint, text });
                (running.printed_at, running.doing) = (Instant::now(), doing);
            }
        }
        self.print(&lines);
    }

    fn should_stop(&self) -> bool {
        self.stop.is_set()
    }
}
