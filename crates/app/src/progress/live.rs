//! The live view on a terminal: rulings scroll by; below them are the running commands, their time and the cost.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use remand_engine::activity::ActivityBoard;
use remand_engine::host::{CommittedStep, DriveWatch, ResumedRun};
use remand_kernel::{Command, Program, State};
use remand_ledger::{RunId, RunPosition};
use remand_terminal::table::terminal_width;
use remand_terminal::{Ink, Stop, line};
use remand_views::progress as words;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Draws on standard error.
#[derive(Debug)]
pub struct Live {
    stop: Stop,
    started: Instant,
    bars: MultiProgress,
    /// The position of the run and what it has spent.
    head: ProgressBar,
    running: BTreeMap<(RunId, String), RunningLine>,
    activity: ActivityBoard,
}

/// The line of a running command.
#[derive(Debug)]
struct RunningLine {
    bar: ProgressBar,
    text: String,
    /// What the command did when the line was last drawn.
    doing: Option<String>,
}

impl Live {
    pub fn new(stop: Stop, activity: ActivityBoard) -> Live {
        let bars = MultiProgress::new();
        let head = bars.add(ProgressBar::new_spinner());
        head.set_style(style("{elapsed_precise} {wide_msg}"));
        Live { stop, started: Instant::now(), bars, head, running: BTreeMap::new(), activity }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Live {
    /// Adds a line for each dispatch and operation among the commands.
    fn add_lines(&mut self, run: &RunId, program: &Program, commands: &[Command]) {
        for command in words::running(program, commands) {
            let bar = self.bars.add(ProgressBar::new_spinner());
            bar.set_style(style("        {spinner} {wide_msg} {elapsed}"));
            let text = line::one(&command.text);
            bar.set_message(text.clone());
            bar.enable_steady_tick(Duration::from_millis(250));
            let line = RunningLine { bar, text, doing: None };
            self.running.insert((run.clone(), command.id.unwrap_or_default()), line);
        }
    }

    /// Shows where the run is and what it has used, as the terminal view does.
    fn update_head(&self, run: &RunId, program: &Program, state: &State) {
        let position = RunPosition::of(program, state).to_string();
        let standing = words::standing(&position, &state.used, &state.limits);
        self.head.set_message(format!("{standing} · {run}"));
    }
}

impl DriveWatch for Live {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        self.add_lines(resumed.run, resumed.program, resumed.open);
        self.update_head(resumed.run, resumed.program, resumed.state);
    }

    fn committed(&mut self, committed: &CommittedStep<'_>) {
        let change = words::change(committed);
        for line in words::lines(committed.run, &committed.program.name, &change) {
            for part in line.render(self.started.elapsed(), Ink::of_stderr(), terminal_width()) {
                let _ = self.bars.println(part);
            }
        }
        for id in change.closed {
            if let Some(line) = self.running.remove(&(committed.run.clone(), id)) {
                line.bar.finish_and_clear();
            }
        }
        self.add_lines(committed.run, committed.program, &committed.step.commands);
        self.update_head(committed.run, committed.program, committed.state);
        if committed.state.end().is_some() {
            self.head.finish_and_clear();
        }
    }

    fn waiting(&mut self) {
        for ((run, command), line) in &mut self.running {
            let doing = self.activity.line(run, command);
            if let Some(what) = &doing
                && doing != line.doing
            {
                line.bar.set_message(format!("{}: {}", line.text, line::one(what)));
                line.doing = doing;
            }
        }
        self.head.tick();
    }

    fn should_stop(&self) -> bool {
        self.stop.is_set()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.bars.clear();
    }
}
