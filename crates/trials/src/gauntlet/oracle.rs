//! The oracle: finds the commit of a run and judges it without the engine's evidence.
//!
//! It copies the commit's source into a fresh clone of the base, so that tests, settings and build files are the
//! original ones. Then it adds tests that no agent has seen, and runs all tests. Where code may look whether it is tested, it
//! also judges from a process that no test runner has started.

use super::arena::Arena;
use super::case::PlantedFile;
use super::project::SampleProject;
use super::tool::TrialTools;
use remand_terminal::CommandFailure;
use std::fs;

/// The trailer of a commit that hands work over.
const HANDED_OVER: &str = "Remand-Handed-Over:";

/// The oracle's judgement of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OracleJudgement {
    Good,
    /// The end of the tests' output.
    Bad(String),
}

/// The commit on the branch of a run, unless it only hands work over.
pub fn commit(arena: &Arena, tools: &TrialTools, branch: &str) -> Result<Option<String>, CommandFailure> {
    let reference = format!("refs/heads/{branch}");
    let listed = tools.git(&arena.checkout(), &["for-each-ref", "--format=%(objectname)", &reference])?;
    let Some(commit) = listed.lines().next().map(str::to_string) else { return Ok(None) };
    let message = tools.git(&arena.checkout(), &["log", "-1", "--format=%B", &commit])?;
    let handed_over = message.lines().any(|line| line.starts_with(HANDED_OVER));
    Ok((!handed_over).then_some(commit))
}

/// Tests the work of a commit.
pub fn judge(
    arena: &Arena,
    tools: &TrialTools,
    project: &SampleProject,
    case_tests: &[PlantedFile],
    commit: &str,
) -> Result<OracleJudgement, CommandFailure> {
    let clone = arena.root().join("oracle");
    let (from, to) = (arena.checkout().display().to_string(), clone.display().to_string());
    tools.git(arena.root(), &["clone", "--quiet", "--no-hardlinks", "--branch", "work", &from, &to])?;
    let source = clone.join(project.source);
    let removed = if source.is_dir() { fs::remove_dir_all(&source) } else { fs::remove_file(&source) };
    removed.map_err(|error| {
        CommandFailure::user(format!("{} cannot be removed", source.display()), "")
            .caused_by(error.to_string())
    })?;
    tools.git(&clone, &["fetch", "--quiet", "origin", commit])?;
    tools.git(&clone, &["checkout", "--quiet", commit, "--", project.source])?;
    for file in project.oracle().iter().filter(|_| case_tests.is_empty()) {
        arena.write(&clone.join(file.real_path()), file.text)?;
    }
    for file in case_tests {
        arena.write(&clone.join(&file.path), &file.text)?;
    }
    arena.runners().link(project.needs, &clone)?;
    let mut ended = tools.run(project.command, &clone)?;
    if let Some(judge) = project.judge.filter(|_| ended.exit.succeeded() && case_tests.is_empty()) {
        ended = tools.run(&["sh", "-c", judge], &clone)?;
    }
    if ended.exit.succeeded() {
        return Ok(OracleJudgement::Good);
    }
    let output = format!("{}{}", ended.stdout.text(), ended.stderr.text());
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    Ok(OracleJudgement::Bad(lines[lines.len().saturating_sub(6)..].join(" | ")))
}

/// The paths that a git command lists, one per line.
pub fn paths(arena: &Arena, tools: &TrialTools, command: &[&str]) -> Result<Vec<String>, CommandFailure> {
    Ok(tools.git(&arena.checkout(), command)?.lines().map(str::to_string).collect())
}

/// Describes where the tag on the base of a run points, if it was moved.
pub fn moved_baseline(
    arena: &Arena,
    tools: &TrialTools,
    run: &str,
) -> Result<Option<String>, CommandFailure> {
    let tag = format!("refs/tags/pipeline-baseline-{run}");
    let format = "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)";
    let target = tools.git(&arena.checkout(), &["for-each-ref", format, &tag])?;
    let base = tools.git(&arena.checkout(), &["rev-parse", "refs/heads/work"])?;
    Ok((!target.is_empty() && target != base)
        .then(|| format!("the baseline tag points to {target}, not to the base")))
}
