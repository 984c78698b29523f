//! Exit codes.

/// How the program ends. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    Done,
    /// The user's input or configuration is wrong.
    User,
    /// A workflow was refused.
    Refused,
    /// The run failed or was stopped.
    Failed,
    /// The run waits for a human.
    Waiting,
    /// The run is over and committed nothing; its work is left to the user.
    HandedOver,
    /// A signal stopped this process; the run can be resumed.
    Interrupted,
    /// A judged change is worse than its base.
    VetFailed,
    /// Nothing proves a judged change, and nothing speaks against it.
    Unmeasured,
    /// The engine could not judge a change.
    Blocked,
    /// Something failed that should always work.
    Internal,
}

impl ExitCode {
    /// Every code with its meaning, for the help text. Code 2 is a bad command line.
    pub const HELP: &str = "\
Exit codes:
  0   done
  1   wrong input or configuration
  2   bad command line
  3   a workflow is refused
  4   the run failed or was stopped
  5   the run waits for a human
  6   the run is over without a commit; its work is left to you
  7   stopped by a signal; `remand resume` continues
  10  vet, land: a change is worse than its base
  11  vet: nothing proves the change, and nothing speaks against it
  12  vet, land: a change could not be judged
  70  internal error
  130 ended by a second signal; `remand resume` continues";

    pub fn code(self) -> std::process::ExitCode {
        std::process::ExitCode::from(self.number())
    }

    /// The more serious of two codes, for a command that runs several operations.
    #[must_use]
    pub fn max_with(self, other: ExitCode) -> ExitCode {
        if other.number() > self.number() { other } else { self }
    }

    pub fn number(self) -> u8 {
        match self {
            ExitCode::Done => 0,
            ExitCode::User => 1,
            ExitCode::Refused => 3,
            ExitCode::Failed => 4,
            ExitCode::Waiting => 5,
            ExitCode::HandedOver => 6,
            ExitCode::Interrupted => 7,
            ExitCode::VetFailed => 10,
            ExitCode::Unmeasured => 11,
            ExitCode::Blocked => 12,
            ExitCode::Internal => 70,
        }
    }
}
