//! The commands of a run that this process has started, and the wall time that the run is charged for them.

use remand_kernel::ids::CommandId;
use std::collections::BTreeSet;
use std::time::Duration;

/// The running commands. Wall time is charged while there is at least one, so not while the run waits for a human, is
/// paused, or has no driving process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunningCommands {
    commands: BTreeSet<CommandId>,
    /// The time up to which the run has been charged; `None` while nothing is running.
    charged_until: Option<Duration>,
}

impl RunningCommands {
    pub(super) fn start(&mut self, id: CommandId, uptime: Duration) {
        self.commands.insert(id);
        self.charged_until.get_or_insert(uptime);
    }

    /// Removes a command that has ended, and returns the milliseconds to charge. Each moment is charged once, however
    /// many commands are running. A fraction of a millisecond is charged next time.
    pub(super) fn end(&mut self, id: CommandId, uptime: Duration) -> u64 {
        self.commands.remove(&id);
        let Some(charged_until) = self.charged_until.take() else {
            return 0;
        };
        let passed = u64::try_from(uptime.saturating_sub(charged_until).as_millis()).unwrap_or(u64::MAX);
        if !self.commands.is_empty() {
            self.charged_until = Some(charged_until + Duration::from_millis(passed));
        }
        passed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    pub(super) fn contains(&self, id: CommandId) -> bool {
        self.commands.contains(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = CommandId> + '_ {
        self.commands.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_kernel::ids::{Lane, PhaseId};

    fn id(phase: u16) -> CommandId {
        CommandId { phase: PhaseId(phase), lane: Lane::Main, visit: 1, seat: 0, attempt: 1 }
    }

    // CORE-07
    #[test]
    fn each_moment_is_charged_once_however_many_commands_are_running() {
        let at = Duration::from_micros;
        let mut running = RunningCommands::default();
        for phase in 1..=3 {
            running.start(id(phase), at(u64::from(phase)));
        }
        let charged =
            [running.end(id(1), at(2_700)), running.end(id(2), at(3_500)), running.end(id(3), at(9_002))];
        assert_eq!(charged, [2, 1, 6], "no part of a millisecond is lost");
    }

    // CORE-07
    #[test]
    fn no_time_is_charged_while_nothing_is_running() {
        let at = Duration::from_secs;
        let mut running = RunningCommands::default();
        running.start(id(1), at(0));
        let first = running.end(id(1), at(2));
        running.start(id(2), at(3600));
        assert_eq!((first, running.end(id(2), at(3601))), (2_000, 1_000));
        assert_eq!(running.end(id(2), at(3700)), 0, "a command that has ended costs no time");
    }
}
