//! Lands branches on a local branch, in order: each is judged merged with what landed before. Nothing is ever pushed.

use crate::context::CommandContext;
use crate::given::{ChangeArg, Declared};
use crate::vetting::{Vetted, Vetting};
use crate::workplace::Workplace;
use remand_engine::config::Flag;
use remand_git::{CommitId, FastForward, GitError, Repository};
use remand_reports::{ChangeReport, ChangeVerdict, ReportForm};
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use std::path::PathBuf;

/// The name of a report in the folder of the run that made a branch.
const REPORT: &str = "landing-report.md";

/// The branches to land, and where.
pub struct Landing<'l> {
    pub context: &'l CommandContext<'l>,
    pub repository: &'l Repository,
    /// The local branch that moves forward.
    pub target: String,
    /// The maximum number of branches that are judged together.
    pub together: usize,
    pub declared: Declared,
    /// The settings that the command line changes.
    pub flags: Vec<Flag>,
}

/// What became of the branches.
#[derive(Default)]
pub struct Landed {
    pub landed: Vec<LandedBranch>,
    pub returned: Vec<ReturnedBranch>,
    /// Why the rest was not tried.
    pub stopped: Option<Stopped>,
    /// The number of judgements.
    pub vets: usize,
}

pub struct LandedBranch {
    pub name: String,
    /// The commit of the target that contains the branch.
    pub commit: CommitId,
    /// Whether the target contained it before.
    pub was_there: bool,
}

/// A branch that did not land, with its report.
pub struct ReturnedBranch {
    pub name: String,
    pub report: Box<ChangeReport>,
    /// The report in the folder of the run that made the branch.
    pub sent_to: Option<PathBuf>,
}

/// Why the landing stopped.
pub enum Stopped {
    Interrupted,
    Blocked(String),
    /// The checkout of the target has changes that are in the way.
    Refused {
        target: String,
        checkout: PathBuf,
        output: String,
    },
}

impl Stopped {
    pub fn why(&self) -> String {
        match self {
            Stopped::Interrupted => "a signal stopped this process".to_string(),
            Stopped::Blocked(why) => why.clone(),
            Stopped::Refused { target, checkout, output } => format!(
                "`{target}` cannot be moved forward in {}; commit or stash the changes there, then land the rest: {output}",
                checkout.display()
            ),
        }
    }
}

/// A judgement of the first branches of a queue.
enum Judged {
    Passed(Box<ChangeReport>),
    Failed(Failing),
    Stopped(Stopped),
}

/// A report of a failure, with the workplace, where reports are kept.
struct Failing {
    report: Box<ChangeReport>,
    workplace: Box<Workplace>,
}

/// What bisection finds in a failing batch.
struct Bisected {
    /// The longest passing start of the batch: its length and its report.
    green: Option<(usize, Box<ChangeReport>)>,
    /// The report of the start that is one longer.
    red: Failing,
}

/// What became of the target.
enum Advance {
    Moved,
    /// Another process moved it; the judgement does not count any more.
    Overtaken,
    Stopped(Stopped),
}

impl Landing<'_> {
    /// Lands the branches, and returns those that do not pass.
    pub fn land(&self, branches: &[String]) -> Result<Landed, CommandFailure> {
        let mut landed = Landed::default();
        let mut queue: Vec<String> = branches.to_vec();
        while !queue.is_empty() {
            let count = self.together.clamp(1, queue.len());
            let (green, red) = match self.judge(&queue[..count], &mut landed)? {
                Judged::Passed(report) => (Some((count, report)), None),
                Judged::Failed(failing) => match self.bisect(&queue[..count], failing, &mut landed)? {
                    Some(Bisected { green, red }) => (green, Some(red)),
                    None => return Ok(landed),
                },
                Judged::Stopped(why) => {
                    landed.stopped = Some(why);
                    return Ok(landed);
                }
            };
            let passing = green.as_ref().map_or(0, |(passing, _)| *passing);
            if let Some((_, report)) = &green {
                match self.advance(report, &mut landed)? {
                    Advance::Moved => {}
                    Advance::Overtaken => {
                        tell(&format!("{} was moved by another process; judging again", self.target));
                        continue;
                    }
                    Advance::Stopped(why) => {
                        landed.stopped = Some(why);
                        return Ok(landed);
                    }
                }
            }
            queue.drain(..passing);
            if let Some(Failing { report, workplace }) = red {
                let name = queue.remove(0);
                let sent_to = send(&workplace, &name, &report)?;
                landed.returned.push(ReturnedBranch { name, report, sent_to });
            }
        }
        Ok(landed)
    }

    /// Finds the branch that turns a failing batch red. `None` if the search stopped.
    fn bisect(
        &self,
        batch: &[String],
        failing: Failing,
        landed: &mut Landed,
    ) -> Result<Option<Bisected>, CommandFailure> {
        let (mut found, mut red_count) = (Bisected { green: None, red: failing }, batch.len());
        loop {
            let green_count = found.green.as_ref().map_or(0, |(count, _)| *count);
            if red_count - green_count == 1 {
                return Ok(Some(found));
            }
            let middle = green_count + (red_count - green_count) / 2;
            match self.judge(&batch[..middle], landed)? {
                Judged::Passed(report) => found.green = Some((middle, report)),
                Judged::Failed(failing) => (found.red, red_count) = (failing, middle),
                Judged::Stopped(why) => {
                    landed.stopped = Some(why);
                    return Ok(None);
                }
            }
        }
    }

    fn judge(&self, branches: &[String], landed: &mut Landed) -> Result<Judged, CommandFailure> {
        tell(&format!("vet {} on {}", branches.join(", "), self.target));
        landed.vets += 1;
        let vetting = Vetting {
            change: ChangeArg::MergeOf(branches.to_vec()),
            declared: Declared { base: Some(format!("refs/heads/{}", self.target)), ..self.declared.clone() },
            flags: self.flags.clone(),
        };
        let Vetted::Judged { workplace, report } = vetting.judge(self.context)? else {
            return Ok(Judged::Stopped(Stopped::Interrupted));
        };
        Ok(match report.verdict {
            ChangeVerdict::Pass => Judged::Passed(report),
            ChangeVerdict::Fail | ChangeVerdict::Unmeasured => Judged::Failed(Failing { report, workplace }),
            ChangeVerdict::Blocked => Judged::Stopped(Stopped::Blocked(report.reason.clone())),
        })
    }

    /// Moves the target to the judged content, with one merge commit for each branch that needs one.
    fn advance(&self, report: &ChangeReport, landed: &mut Landed) -> Result<Advance, CommandFailure> {
        let base: CommitId = report.change.base.parse()?;
        let (mut tip, mut before) = (base.clone(), base.clone());
        let mut arrived = Vec::new();
        for part in &report.change.parts {
            let (commit, after): (CommitId, CommitId) = (part.commit.parse()?, part.after.parse()?);
            let was_there = after == before;
            if !was_there {
                tip = if after == commit {
                    commit
                } else {
                    let message = format!("Merge branch '{}' into {}", part.name, self.target);
                    let tree = self.repository.tree_of(&after)?;
                    self.repository.merge_commit(&tree, [&tip, &commit], &message)?
                };
            }
            before = after;
            arrived.push(LandedBranch { name: part.name.clone(), commit: tip.clone(), was_there });
        }
        if tip != base {
            match self.repository.fast_forward(&self.target, &base, &tip) {
                Ok(FastForward::Moved) => {}
                Ok(FastForward::Refused { checkout, output }) => {
                    let target = self.target.clone();
                    return Ok(Advance::Stopped(Stopped::Refused { target, checkout, output }));
                }
                Err(GitError::ReferenceMoved { .. }) => return Ok(Advance::Overtaken),
                Err(other) => return Err(other.into()),
            }
        }
        landed.landed.extend(arrived);
        Ok(Advance::Moved)
    }
}

/// Puts the report into the folder of the run that made the branch, if one did.
fn send(
    workplace: &Workplace,
    branch: &str,
    report: &ChangeReport,
) -> Result<Option<PathBuf>, CommandFailure> {
    // A remote or a full name may stand before it.
    let Some((_, name)) = branch.rsplit_once("remand/") else { return Ok(None) };
    // A part of an id is enough for people, but another run must not get the report.
    let row = workplace.reader()?.run(name).ok().filter(|row| row.run.0 == name);
    let Some(row) = row else { return Ok(None) };
    let file = workplace.home.run(&row.run).join(REPORT);
    let text = ReportForm::Markdown.render(report);
    let written =
        file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, text));
    written.map_err(|error| {
        CommandFailure::user(format!("{} cannot be written", file.display()), "make space there")
            .caused_by(error.to_string())
    })?;
    Ok(Some(file))
}
