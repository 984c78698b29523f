//! What is done for a run besides its commands: one thing after the other, and nothing that comes later before it.

use super::lock;
use remand_ledger::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The errands of all runs. Those of different runs do not wait for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Errands(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    lines: Mutex<BTreeMap<RunId, Line>>,
    done: Condvar,
}

/// How many errands of a run were given, and how many of them are done.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    given: u64,
    done: u64,
}

/// An errand's place in the line of its run; who drops it is done.
#[derive(Debug)]
pub(super) struct Turn {
    errands: Errands,
    run: RunId,
    number: u64,
}

impl Errands {
    pub(super) fn give(&self, run: &RunId) -> Turn {
        let mut lines = lock(&self.0.lines);
        let line = lines.entry(run.clone()).or_default();
        line.given += 1;
        Turn { errands: self.clone(), run: run.clone(), number: line.given }
    }

    /// The last errand of a run that was given until now.
    pub(super) fn last(&self, run: &RunId) -> u64 {
        lock(&self.0.lines).get(run).map_or(0, |line| line.given)
    }

    pub(super) fn are_done(&self, run: &RunId) -> bool {
        lock(&self.0.lines).get(run).is_none_or(|line| line.done == line.given)
    }

    /// Waits until this many errands of a run are done.
    pub(super) fn wait(&self, run: &RunId, number: u64) {
        self.wait_while(|lines| lines.get(run).is_some_and(|line| line.done < number));
    }

    /// Waits until nothing is left to do.
    pub(super) fn settle(&self) {
        self.wait_while(|lines| lines.values().any(|line| line.done < line.given));
    }

    fn wait_while(&self, holds: impl Fn(&BTreeMap<RunId, Line>) -> bool) {
        let waited = self.0.done.wait_while(lock(&self.0.lines), |lines| holds(lines));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Turn {
    /// Waits until everything that was given before is done.
    pub(super) fn wait(&self) {
        self.errands.wait(&self.run, self.number - 1);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(line) = lock(&self.errands.0.lines).get_mut(&self.run) {
            line.done = line.done.max(self.number);
        }
        self.errands.0.done.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    // CORE-17
    #[test]
    fn errands_of_a_run_are_done_in_the_order_in_which_they_were_given_and_commands_come_after_them() {
        let (one, other) = (RunId("one".to_string()), RunId("other".to_string()));
        let errands = Errands::default();
        let (tell, told) = channel();
        let turns: Vec<Turn> = (0..3).map(|_| errands.give(&one)).collect();
        let stuck = errands.give(&other);
        let before = errands.last(&one);
        std::thread::scope(|scope| {
            let command = tell.clone();
            let waiting = errands.clone();
            let run = one.clone();
            scope.spawn(move || {
                waiting.wait(&run, before);
                command.send(9).expect("somebody listens");
            });
            for (at, turn) in turns.into_iter().enumerate().rev() {
                let tell = tell.clone();
                scope.spawn(move || {
                    turn.wait();
                    tell.send(at).expect("somebody listens");
                });
            }
        });
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [0, 1, 2, 9], "although another run's is not done");
        assert_eq!([&one, &other].map(|run| errands.are_done(run)), [true, false]);
        drop(stuck);
        errands.settle();
        assert!(errands.are_done(&other));
    }

    #[test]
    fn who_stumbles_over_an_errand_holds_nobody_up() {
        let (run, errands) = (RunId("one".to_string()), Errands::default());
        let turn = errands.give(&run);
        let stumbled = std::thread::spawn(move || {
            turn.wait();
            std::panic::resume_unwind(Box::new("stumbled"));
        });
        assert!(stumbled.join().is_err());
        errands.settle();
    }
}
