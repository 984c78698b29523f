//! Plain lines on standard error, for logs and pipes.

use super::{Stop, words};
use crate::exit::tell;
use remand_runtime::host::{News, TakenUp, Watch};
use std::time::Instant;

/// One line for each thing that happened, with the time since the start.
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
    fn tell(&self, lines: Vec<String>) {
        let elapsed = words::clock(self.started.elapsed());
        for line in lines {
            tell(&format!("{elapsed:>7}  {line}"));
        }
    }
}

impl Watch for Plain {
    fn taken_up(&mut self, taken: &TakenUp<'_>) {
        self.tell(words::again(taken));
    }

    fn published(&mut self, news: &News<'_>) {
        self.tell(words::lines(news));
    }

    fn told_to_stop(&self) -> bool {
        self.stop.is_set()
    }
}
