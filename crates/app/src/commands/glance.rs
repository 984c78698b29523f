//! `remand` without a command: what it finds in this folder, and the next sensible command.

use super::status::overview::{Overview, RunInProgress};
use crate::agents;
use crate::context::CommandContext;
use crate::installed_agents::{InstalledAgent, InstalledAgents, NoDefaultAgent};
use crate::project_checks;
use crate::workplace::{self, Workplace};
use remand_checks::CheckAction;
use remand_git::Hygiene;
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::FieldList;
use remand_terminal::{CommandFailure, ExitCode, Ink, amount, invocation, line};
use serde_json::{Value, json};

/// The width of the page, in columns.
const WIDTH: usize = 80;

pub fn run(context: &CommandContext<'_>) -> Result<ExitCode, CommandFailure> {
    workplace::repository(context).map_err(outside)?;
    let workplace = Workplace::open(context, Vec::new())?;
    let glance = Glance::take(&workplace)?;
    if context.json {
        print_json(&glance.json())?;
    } else {
        print(&glance.text(Ink::of_stdout()))?;
    }
    Ok(ExitCode::Done)
}

/// Adds what can be done without a repository.
fn outside(failure: CommandFailure) -> CommandFailure {
    let hint = format!(
        "{}; `remand demo` shows a run without a repository, and `remand --help` lists all commands",
        failure.hint
    );
    CommandFailure { hint, ..failure }
}

/// What a new user needs to know about this repository.
struct Glance {
    root: String,
    branch: Option<String>,
    commit: String,
    uncommitted: usize,
    /// The names of checks that run a command.
    checks: Vec<String>,
    /// Whether there is a remand.toml.
    is_configured: bool,
    /// The configured agent.
    chosen: Option<String>,
    installed: InstalledAgents,
    runs: Overview,
    /// The run that ended last, if its branch is not merged.
    unmerged: Option<RunRow>,
}

impl Glance {
    fn take(workplace: &Workplace) -> Result<Glance, CommandFailure> {
        let Workplace { repository, config, home, .. } = workplace;
        let head = repository.head()?;
        let hygiene = repository.hygiene(&head.commit)?;
        let uncommitted = hygiene.iter().find_map(|found| match found {
            Hygiene::Dirty { count, .. } => Some(*count),
            Hygiene::DetachedHead
            | Hygiene::OnDefaultBranch { .. }
            | Hygiene::InProgress { .. }
            | Hygiene::Submodules { .. }
            | Hygiene::Lfs { .. }
            | Hygiene::SparseCheckout
            | Hygiene::ShallowClone => None,
        });
        let specs = project_checks::specs(repository, &head.commit, config, home.root())?;
        let commands = specs.into_iter().filter(|spec| !matches!(spec.action, CheckAction::BuiltIn(_)));
        let runs = Overview::read(workplace, workplace.reader_if_any()?.as_ref())?;
        let branches = repository.unmerged_runs(&head.commit)?;
        let unmerged = runs.ended.clone().filter(|row| branches.contains(&row.branch));
        Ok(Glance {
            root: repository.root().display().to_string(),
            branch: head.branch,
            commit: head.commit.as_str().get(..12).unwrap_or_default().to_string(),
            uncommitted: uncommitted.unwrap_or(0),
            checks: commands.map(|spec| spec.name).collect(),
            is_configured: repository.root().join("remand.toml").exists(),
            chosen: Some(config.agent.clone()).filter(|name| !name.is_empty()),
            installed: agents::installed(config)?,
            unmerged,
            runs,
        })
    }

    /// The runs that continue only if the user does something.
    fn needy(&self) -> Vec<&RunInProgress> {
        self.runs.listed.iter().filter(|run| !run.gates.is_empty() || run.driver.is_none()).collect()
    }

    /// The next sensible command, or what to do before there is one.
    fn next(&self) -> String {
        if let Some(run) = self.needy().first() {
            return remedy(run);
        }
        let run = invocation::command("run \"what you want\"");
        let agent = match (&self.chosen, self.installed.only()) {
            (Some(_), _) => String::new(),
            (None, Ok(found)) => match found.advice() {
                None => String::new(),
                Some(advice) => return advice,
            },
            (None, Err(NoDefaultAgent::Missing { installers })) => {
                return match installers.first() {
                    Some(install) => format!("{install}, or another agent that `remand agents` lists"),
                    None => invocation::command("agents"),
                };
            }
            (None, Err(NoDefaultAgent::SignedOut { installed })) => {
                let first = installed.first().map_or("NAME", String::as_str);
                return format!(
                    "{}, which shows how to sign in",
                    invocation::command(format!("agents {first}"))
                );
            }
            (None, Err(NoDefaultAgent::Several { ready })) => {
                format!(" --agent {}", ready.first().map_or("NAME", String::as_str))
            }
        };
        if self.checks.is_empty() {
            let add = "add a build or a test under `[checks]` in remand.toml";
            return match self.is_configured {
                true => add.to_string(),
                false => format!("{}, then {add}", invocation::command("init")),
            };
        }
        format!("{run}{agent}")
    }

    fn text(&self, ink: Ink) -> String {
        let mut fields = FieldList::new();
        let branch =
            self.branch.as_deref().map_or("without a branch".to_string(), |name| format!("on {name}"));
        fields.add("repository", format!("{}, {branch} at {}", self.root, self.commit));
        if self.uncommitted > 0 {
            let changes = amount::counted(self.uncommitted as u64, "uncommitted change");
            fields.add("", format!("{changes}; a run starts from the last commit"));
        }
        fields.add(
            "checks",
            match self.checks.as_slice() {
                [] => "no build or test found".to_string(),
                names => names.join(", "),
            },
        );
        fields.add("agents", self.describe_agents());
        for (at, run) in self.needy().iter().enumerate() {
            fields.add(if at == 0 { "needs you" } else { "" }, describe(run));
            if at > 0 {
                fields.add("", remedy(run));
            }
        }
        if let Some(row) = &self.unmerged {
            fields.add("not merged", format!("{} ({})", row.run, request(row)));
            fields.add("", invocation::command(format!("diff {}", row.run)));
            fields.add("", format!("git merge {}", row.branch));
        }
        fields.add("next", self.next());
        fields.render_within(WIDTH, ink)
    }

    fn describe_agents(&self) -> String {
        let (ready, unsure): (Vec<&InstalledAgent>, Vec<&InstalledAgent>) =
            self.installed.all().iter().partition(|agent| agent.is_signed_in);
        let names = |agents: &[&InstalledAgent]| -> String {
            agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let known = [(ready, "signed in"), (unsure, "no sign-in found")];
        let known = known.iter().filter(|(agents, _)| !agents.is_empty());
        let mut parts: Vec<String> =
            known.map(|(agents, state)| format!("{} ({state})", names(agents))).collect();
        match (&self.chosen, self.installed.only()) {
            (Some(name), _) => parts.push(format!("the settings choose {name}")),
            (None, Ok(found)) if self.installed.all().len() > 1 => {
                parts.push(format!("a run uses {}", found.name))
            }
            (None, Err(NoDefaultAgent::Several { .. })) => {
                parts.push("`remand init` chooses one".to_string())
            }
            (None, Ok(_) | Err(_)) => {}
        }
        if parts.is_empty() { "none installed".to_string() } else { parts.join("; ") }
    }

    fn json(&self) -> Value {
        let agent = |agent: &InstalledAgent| json!({ "name": agent.name, "signed-in": agent.is_signed_in });
        let run =
            |run: &&RunInProgress| json!({ "run": run.row.run, "what": describe(run), "next": remedy(run) });
        json!({
            "repository": self.root,
            "branch": self.branch,
            "commit": self.commit,
            "uncommitted": self.uncommitted,
            "checks": self.checks,
            "agent": self.chosen.clone().or_else(|| self.installed.only().ok().map(|found| found.name)),
            "agents": self.installed.all().iter().map(agent).collect::<Vec<_>>(),
            "needs-you": self.needy().iter().map(run).collect::<Vec<_>>(),
            "not-merged": self.unmerged.as_ref().map(|row| &row.branch),
            "next": self.next(),
        })
    }
}

/// The beginning of a run's request.
fn request(row: &RunRow) -> String {
    line::cut(&line::first(&row.request), 40)
}

/// Why a run needs the user.
fn describe(run: &RunInProgress) -> String {
    let row = &run.row;
    let request = request(row);
    match run.gates.first() {
        Some(gate) => format!("{} ({request}) asks: {}", row.run, line::one(&gate.question)),
        None => format!("{} ({request}) is {} and no process drives it", row.run, row.stage.name()),
    }
}

/// The command that shows the run's question, or continues it.
fn remedy(run: &RunInProgress) -> String {
    match run.gates.first() {
        Some(_) => invocation::command(format!("gates {}", run.row.run)),
        None => invocation::command(format!("resume {}", run.row.run)),
    }
}
