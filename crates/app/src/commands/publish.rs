//! `remand publish`: pushes the branch of a run and opens a pull request with the evidence, if you say so.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::forge::{Forges, PublishedCommand, Remote, Variables, run_command, with_variables};
use crate::workplace::Workplace;
use remand_engine::bundle;
use remand_ledger::query::{RunRow, RunStage};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, invocation};
use serde_json::json;

/// The file with the text of the pull request, in the folder of the run.
const BODY: &str = "pull-request.md";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The remote to push to [default: origin, or the only one]
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
    /// The branch that the pull request is for [default: the default branch of the remote]
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// The title [default: the first line of the commit]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Run the commands; without this they are only shown
    #[arg(long)]
    pub yes: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    refuse_unfinished(&workplace, &row)?;
    let remote = remote(&workplace, args)?;
    let body = bundle::pull_request(&reader, &row.run)?;
    let folder = workplace.home.run(&row.run);
    let file = folder.join(BODY);
    remand_git::private_folder(&folder)
        .and_then(|()| std::fs::write(&file, &body))
        .map_err(|error| CommandFailure::internal_error("the text of the pull request", &error))?;
    let forges = Forges::from_config(&workplace.config)?;
    let place = Remote::all(&workplace.repository)?.into_iter().find(|known| known.name == remote);
    let forge = place.as_ref().and_then(|place| forges.of_remote(place));
    let push = ["git", "push", &remote, &format!("{}:refs/heads/{}", row.branch, row.branch)];
    let mut commands = vec![PublishedCommand { argv: push.map(str::to_string).to_vec() }];
    if let (Some(place), Some(forge)) = (&place, forge.filter(|forge| !forge.publish.is_empty())) {
        let title = match &args.title {
            Some(title) => title.clone(),
            None => workplace.repository.subject(&workplace.repository.commit(&row.branch)?)?,
        };
        let variables: Variables = [
            ("repository", place.repository.clone()),
            ("branch", row.branch.clone()),
            ("base", base(&workplace, args, &remote)?),
            ("title", title),
            ("file", file.display().to_string()),
            ("body", body),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into();
        commands.push(PublishedCommand { argv: with_variables(&forge.publish, &variables) });
    }
    if !args.yes {
        return show(context, &row, &commands, &file.display().to_string(), forge.is_some());
    }
    let mut said = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        tell(&format!("→ {}", shortened(&command.text())));
        let program = forge.filter(|_| number > 0);
        said.push(run_command(&command.argv, workplace.repository.root(), program)?.trim().to_string());
    }
    if context.json {
        print_json(
            &json!({ "run": row.run, "branch": row.branch, "remote": remote, "said": said, "body": file }),
        )?;
    } else {
        print(&said.into_iter().filter(|said| !said.is_empty()).map(|said| said + "\n").collect::<String>())?;
    }
    Ok(ExitCode::Done)
}

/// Shows the commands, and what to do to run them.
fn show(
    context: &CommandContext<'_>,
    row: &RunRow,
    commands: &[PublishedCommand],
    file: &str,
    is_known: bool,
) -> Result<ExitCode, CommandFailure> {
    let texts: Vec<String> = commands.iter().map(PublishedCommand::text).collect();
    if context.json {
        print_json(&json!({ "run": row.run, "commands": texts, "body": file, "published": false }))?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::new();
    for command in &texts {
        text.push_str(&format!("{}\n", shortened(command)));
    }
    text.push_str(&format!("\nThe text of the pull request is in {file}.\n"));
    if !is_known {
        text.push_str(
            "The remote belongs to no forge that Remand knows, so only the branch would be pushed.\n",
        );
    }
    text.push_str(&format!(
        "Nothing was sent. To run {}: {}\n",
        if texts.len() == 1 { "it" } else { "both" },
        invocation::command(format!("publish {} --yes", row.run))
    ));
    print(&text)?;
    Ok(ExitCode::Done)
}

/// A command without the end of a very long text in it.
fn shortened(command: &str) -> String {
    const MAX: usize = 600;
    match command.char_indices().nth(MAX) {
        Some((end, _)) => format!("{} …", &command[..end]),
        None => command.to_string(),
    }
}

fn refuse_unfinished(workplace: &Workplace, row: &RunRow) -> Result<(), CommandFailure> {
    if !workplace.repository.branch_exists(&row.branch)? {
        let what = format!("run {} has no branch {}", row.run, row.branch);
        return Err(CommandFailure::user(what, "only a run that committed its work can be published"));
    }
    if row.stage != RunStage::Committed {
        let what =
            format!("run {} is {}, so its branch is not what it was asked for", row.run, row.outcome());
        return Err(CommandFailure::user(
            what,
            format!("push it yourself: `git push REMOTE {}`", row.branch),
        ));
    }
    Ok(())
}

/// The remote to push to.
fn remote(workplace: &Workplace, args: &Args) -> Result<String, CommandFailure> {
    let known: Vec<String> = workplace.repository.remotes()?.into_iter().map(|(name, _)| name).collect();
    let chosen = match (&args.remote, known.as_slice()) {
        (Some(name), _) => known.iter().find(|known| *known == name),
        (None, [only]) => Some(only),
        (None, _) => known.iter().find(|known| *known == "origin"),
    };
    chosen.cloned().ok_or_else(|| match &args.remote {
        Some(name) => CommandFailure::user(
            format!("there is no remote `{name}`"),
            "list the remotes with `git remote -v`",
        ),
        None => CommandFailure::user(
            "it is not clear where to push to",
            "name a remote with `--remote NAME`; add one with `git remote add`",
        ),
    })
}

/// The branch that the pull request is for.
fn base(workplace: &Workplace, args: &Args, remote: &str) -> Result<String, CommandFailure> {
    if let Some(base) = &args.base {
        return Ok(base.clone());
    }
    if let Some(base) = workplace.repository.default_branch_of(remote)? {
        return Ok(base);
    }
    let current = workplace.repository.head()?.branch;
    current.ok_or_else(|| {
        CommandFailure::user("the base of the pull request is unknown", "name a branch with `--base BRANCH`")
    })
}
