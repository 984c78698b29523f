//! The commands of a run that this process carries out, and the time of the run that passes meanwhile.

use remand_kernel::ids::CommandId;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The time of a run passes while anything of it is under way, and stands still while it only waits for a human, is
/// paused, or nobody drives it (CORE-07).
#[derive(Debug, Default)]
pub(super) struct AtWork {
    commands: BTreeSet<CommandId>,
    /// Up to when the kernel was told; none while the time stands still.
    told: Option<Instant>,
}

impl AtWork {
    pub(super) fn begin(&mut self, id: CommandId, now: Instant) {
        self.commands.insert(id);
        self.told.get_or_insert(now);
    }

    /// Takes a command that is over, and gives the milliseconds that nobody told of yet. Each moment is told once, however
    /// many commands there are; what is left of a millisecond is told the next time.
    pub(super) fn end(&mut self, id: CommandId, now: Instant) -> u64 {
        self.commands.remove(&id);
        let Some(told) = self.told.take() else {
            return 0;
        };
        let passed = u64::try_from(now.saturating_duration_since(told).as_millis()).unwrap_or(u64::MAX);
        if !self.commands.is_empty() {
            self.told = Some(told + Duration::from_millis(passed));
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
    fn each_moment_is_told_once_however_many_commands_are_under_way() {
        let start = Instant::now();
        let at = |micros: u64| start + Duration::from_micros(micros);
        let mut work = AtWork::default();
        for phase in 1..=3 {
            work.begin(id(phase), at(u64::from(phase)));
        }
        let told = [work.end(id(1), at(2_700)), work.end(id(2), at(3_500)), work.end(id(3), at(9_002))];
        assert_eq!(told, [2, 1, 6], "no part of a millisecond is lost");
    }

    // CORE-07
    #[test]
    fn time_stands_still_while_nothing_is_under_way() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut work = AtWork::default();
        work.begin(id(1), at(0));
        let first = work.end(id(1), at(2));
        work.begin(id(2), at(3600));
        assert_eq!((first, work.end(id(2), at(3601))), (2_000, 1_000));
        assert_eq!(work.end(id(2), at(3700)), 0, "what is over passes no time");
    }
}
