//! Plain lines on standard error, for logs and pipes.

use super::words;
use remand_engine::host::{CommittedStep, DriveWatch, ResumedRun};
use remand_terminal::Stop;
use remand_terminal::output::tell;
use std::time::Instant;

/// Prints lines for each step, with the time since the start.
#[derive(Debug)]
pub struct Plain {
    stop: Stop,
    started: Instant,
}

impl Plain {
    pub fn new(stop: Stop) -> Plain {
        Plain { stop, started: Instant::now() }
    }
}

impl Plain {
    fn print(&self, lines: Vec<String>) {
        let elapsed = words::clock(self.started.elapsed());
        for line in lines {
            tell(&format!("{elapsed:>7}  {line}"));
        }
    }
}

impl DriveWatch for Plain {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        self.print(words::resumed(resumed));
    }

    fn committed(&mut self, committed: &CommittedStep<'_>) {
        self.print(words::lines(committed.run, &words::change(committed)));
    }

    fn should_stop(&self) -> bool {
        self.stop.is_set()
    }
}
