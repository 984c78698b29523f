//! Lands branches on a local branch, in order: each is judged merged with what landed before. Nothing is ever pushed.

use crate::context::CommandContext;
use crate::given::{ChangeArg, Declared};
use crate::vetting::{Vetted, Vetting};
use crate::workplace::Workplace;
use remand_git::{CommitId, FastForward, Repository};
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
    pub is_uncached: bool,
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
    pub commit: CommitId,
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
}

/// A judgement of the first branches of a queue.
enum Judged {
    Passed(Box<ChangeReport>),
    /// With the workplace, where reports are kept.
    Failed(Box<ChangeReport>, Box<Workplace>),
    Stopped(Stopped),
}

impl Landing<'_> {
    /// Lands the branches, and returns those that do not pass.
    pub fn land(&self, branches: &[String]) -> Result<Landed, CommandFailure> {
        let mut landed = Landed::default();
        let mut queue: Vec<String> = branches.to_vec();
        while !queue.is_empty() {
            let count = self.together.clamp(1, queue.len());
            match self.judge(&queue[..count], &mut landed)? {
                Judged::Passed(report) => {
                    self.advance(&report, &mut landed)?;
                    queue.drain(..count);
                }
                Judged::Failed(report, workplace) => {
                    let Some((green, culprit)) =
                        self.bisect(&queue[..count], (report, workplace), &mut landed)?
                    else {
                        return Ok(landed);
                    };
                    let passing = green.as_ref().map_or(0, |(passing, _)| *passing);
                    if let Some((_, report)) = &green {
                        self.advance(report, &mut landed)?;
                    }
                    let (report, workplace) = culprit;
                    let name = queue[passing].clone();
                    let sent_to = send(&workplace, &name, &report)?;
                    landed.returned.push(ReturnedBranch { name, report, sent_to });
                    queue.drain(..=passing);
                }
                Judged::Stopped(why) => {
                    landed.stopped = Some(why);
                    return Ok(landed);
                }
            }
        }
        Ok(landed)
    }

    /// Finds the branch that turns a failing batch red. Returns how many branches before it pass together, with their
    /// report, and the report with it. `None` if the search stopped.
    #[allow(clippy::type_complexity)]
    fn bisect(
        &self,
        batch: &[String],
        failing: (Box<ChangeReport>, Box<Workplace>),
        landed: &mut Landed,
    ) -> Result<
        Option<(Option<(usize, Box<ChangeReport>)>, (Box<ChangeReport>, Box<Workplace>))>,
        CommandFailure,
    > {
        let (mut green, mut red, mut red_count) = (None, failing, batch.len());
        loop {
            let green_count = green.as_ref().map_or(0, |(count, _): &(usize, Box<ChangeReport>)| *count);
            if red_count - green_count == 1 {
                return Ok(Some((green, red)));
            }
            let middle = green_count + (red_count - green_count) / 2;
            match self.judge(&batch[..middle], landed)? {
                Judged::Passed(report) => green = Some((middle, report)),
                Judged::Failed(report, workplace) => (red, red_count) = ((report, workplace), middle),
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
            is_uncached: self.is_uncached,
        };
        let Vetted::Judged { workplace, report } = vetting.judge(self.context)? else {
            return Ok(Judged::Stopped(Stopped::Interrupted));
        };
        Ok(match report.verdict {
            ChangeVerdict::Pass => Judged::Passed(report),
            ChangeVerdict::Fail | ChangeVerdict::Unmeasured => Judged::Failed(report, workplace),
            ChangeVerdict::Blocked => Judged::Stopped(Stopped::Blocked(report.reason.clone())),
        })
    }

    /// Moves the target to the judged content, with one merge commit for each branch that needs one.
    fn advance(&self, report: &ChangeReport, landed: &mut Landed) -> Result<(), CommandFailure> {
        let base: CommitId = report.change.base.parse()?;
        let (mut tip, mut before) = (base.clone(), base.clone());
        for part in &report.change.parts {
            let (commit, after): (CommitId, CommitId) = (part.commit.parse()?, part.after.parse()?);
            if after == commit {
                tip = commit;
            } else if after != before {
                let message = format!("Merge branch '{}' into {}", part.name, self.target);
                tip = self.repository.merge_commit(
                    &self.repository.tree_of(&after)?,
                    [&tip, &commit],
                    &message,
                )?;
            }
            before = after;
            landed.landed.push(LandedBranch { name: part.name.clone(), commit: tip.clone() });
        }
        if tip == base {
            return Ok(());
        }
        match self.repository.fast_forward(&self.target, &base, &tip)? {
            FastForward::Moved => Ok(()),
            FastForward::Refused { checkout, output } => {
                let what = format!("`{}` cannot be moved forward in {}", self.target, checkout.display());
                Err(CommandFailure::user(what, "commit or stash the changes there, then land again")
                    .caused_by(output))
            }
        }
    }
}

/// Puts the report into the folder of the run that made the branch, if one did.
fn send(
    workplace: &Workplace,
    branch: &str,
    report: &ChangeReport,
) -> Result<Option<PathBuf>, CommandFailure> {
    let Some(name) = branch.strip_prefix("remand/") else { return Ok(None) };
    let Ok(row) = workplace.reader()?.run(name) else { return Ok(None) };
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
