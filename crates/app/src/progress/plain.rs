//! Plain lines on standard error, for logs and pipes.

use super::{Stop, words};
use crate::exit::tell;
use remand_runtime::host::{News, Watch};
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

impl Watch for Plain {
    fn published(&mut self, news: &News<'_>) {
        let elapsed = words::clock(self.started.elapsed());
        for line in words::lines(news) {
            tell(&format!("{elapsed:>7}  {line}"));
        }
    }

    fn told_to_stop(&self) -> bool {
        self.stop.is_set()
    }
}
