//! The live view on a terminal: rulings scroll by, and below them stands who is at work, since when, at what cost.

use super::{Stop, words};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use remand_kernel::ids::CommandId;
use remand_kernel::{Command, Program, State};
use remand_ledger::RunId;
use remand_runtime::host::{News, TakenUp, Watch};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Draws on standard error.
#[derive(Debug)]
pub struct Live {
    stop: Stop,
    started: Instant,
    bars: MultiProgress,
    /// Where the run is and what it has spent.
    head: ProgressBar,
    at_work: BTreeMap<(RunId, CommandId), ProgressBar>,
}

impl Live {
    pub fn new(stop: Stop) -> Live {
        let bars = MultiProgress::new();
        let head = bars.add(ProgressBar::new_spinner());
        head.set_style(style("{elapsed_precise} {wide_msg}"));
        Live { stop, started: Instant::now(), bars, head, at_work: BTreeMap::new() }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Live {
    /// Shows who is at work by these commands, below all others.
    fn begin(&mut self, run: &RunId, program: &Program, commands: &[Command]) {
        for (id, doing) in commands.iter().filter_map(|command| words::under_way(program, command)) {
            let bar = self.bars.add(ProgressBar::new_spinner());
            bar.set_style(style("        {spinner} {wide_msg} {elapsed}"));
            bar.set_message(doing);
            bar.enable_steady_tick(Duration::from_millis(250));
            self.at_work.insert((run.clone(), id), bar);
        }
    }

    /// Shows where the run is and what it has spent; a narrow terminal cuts off what the others leave no room for.
    fn stand(&self, run: &RunId, program: &Program, state: &State) {
        let spent = words::spent(&state.used, &state.limits);
        let place = words::place(program, state);
        self.head.set_message(format!("{place} · {spent} · {run}"));
    }
}

impl Watch for Live {
    fn taken_up(&mut self, taken: &TakenUp<'_>) {
        self.begin(taken.run, taken.program, taken.open);
        self.stand(taken.run, taken.program, taken.state);
    }

    fn published(&mut self, news: &News<'_>) {
        let elapsed = words::clock(self.started.elapsed());
        for line in words::lines(news) {
            let _ = self.bars.println(format!("{elapsed:>7}  {line}"));
        }
        for id in words::ended(news) {
            if let Some(bar) = self.at_work.remove(&(news.run.clone(), id)) {
                bar.finish_and_clear();
            }
        }
        self.begin(news.run, news.program, &news.step.commands);
        self.stand(news.run, news.program, news.state);
        if news.state.end().is_some() {
            self.head.finish_and_clear();
        }
    }

    fn waiting(&mut self) {
        self.head.tick();
    }

    fn told_to_stop(&self) -> bool {
        self.stop.is_set()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.bars.clear();
    }
}
