//! The background tasks of a run. They run one after the other, and before any later command.

use super::lock;
use remand_ledger::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The background tasks of all runs. Tasks of different runs do not wait for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct BackgroundTasks(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queues: Mutex<BTreeMap<RunId, Queue>>,
    finished: Condvar,
}

/// How many tasks of a run were added, and how many of them are finished.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    added: u64,
    finished: u64,
}

/// The position of a task in the queue of its run. Dropping it finishes the task.
#[derive(Debug)]
pub(super) struct QueuePosition {
    tasks: BackgroundTasks,
    run: RunId,
    number: u64,
}

impl BackgroundTasks {
    pub(super) fn add(&self, run: &RunId) -> QueuePosition {
        let mut queues = lock(&self.0.queues);
        let queue = queues.entry(run.clone()).or_default();
        queue.added += 1;
        QueuePosition { tasks: self.clone(), run: run.clone(), number: queue.added }
    }

    /// The number of tasks of a run that were added so far.
    pub(super) fn added(&self, run: &RunId) -> u64 {
        lock(&self.0.queues).get(run).map_or(0, |queue| queue.added)
    }

    pub(super) fn are_finished(&self, run: &RunId) -> bool {
        lock(&self.0.queues).get(run).is_none_or(|queue| queue.finished == queue.added)
    }

    /// Waits until this many tasks of a run are finished.
    pub(super) fn wait(&self, run: &RunId, number: u64) {
        self.wait_while(|queues| queues.get(run).is_some_and(|queue| queue.finished < number));
    }

    /// Waits until all tasks of all runs are finished.
    pub(super) fn wait_for_all(&self) {
        self.wait_while(|queues| queues.values().any(|queue| queue.finished < queue.added));
    }

    fn wait_while(&self, condition: impl Fn(&BTreeMap<RunId, Queue>) -> bool) {
        let guard = self.0.finished.wait_while(lock(&self.0.queues), |queues| condition(queues));
        drop(guard.unwrap_or_else(PoisonError::into_inner));
    }
}

impl QueuePosition {
    /// Waits until every earlier task of the run is finished.
    pub(super) fn wait(&self) {
        self.tasks.wait(&self.run, self.number - 1);
    }
}

impl Drop for QueuePosition {
    fn drop(&mut self) {
        if let Some(queue) = lock(&self.tasks.0.queues).get_mut(&self.run) {
            queue.finished = queue.finished.max(self.number);
        }
        self.tasks.0.finished.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    // CORE-17
    #[test]
    fn tasks_of_a_run_are_done_in_order_and_later_commands_wait_for_them() {
        let (one, other) = (RunId("one".to_string()), RunId("other".to_string()));
        let tasks = BackgroundTasks::default();
        let (send, received) = channel();
        let positions: Vec<QueuePosition> = (0..3).map(|_| tasks.add(&one)).collect();
        let stuck = tasks.add(&other);
        let before = tasks.added(&one);
        std::thread::scope(|scope| {
            let command = send.clone();
            let waiting = tasks.clone();
            let run = one.clone();
            scope.spawn(move || {
                waiting.wait(&run, before);
                command.send(9).expect("received");
            });
            for (at, position) in positions.into_iter().enumerate().rev() {
                let send = send.clone();
                scope.spawn(move || {
                    position.wait();
                    send.send(at).expect("received");
                });
            }
        });
        assert_eq!(received.try_iter().collect::<Vec<_>>(), [0, 1, 2, 9], "although another run is stuck");
        assert_eq!([&one, &other].map(|run| tasks.are_finished(run)), [true, false]);
        drop(stuck);
        tasks.wait_for_all();
        assert!(tasks.are_finished(&other));
    }

    #[test]
    fn a_panicking_task_blocks_nothing() {
        let (run, tasks) = (RunId("one".to_string()), BackgroundTasks::default());
        let position = tasks.add(&run);
        let panicked = std::thread::spawn(move || {
            position.wait();
            std::panic::resume_unwind(Box::new("a panic"));
        });
        assert!(panicked.join().is_err());
        tasks.wait_for_all();
    }
}
