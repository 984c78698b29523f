//! Prepares a run: the pinned workflow, roles and checks, the limits, and the first facts.

use crate::agents::Agents;
use crate::context::CommandContext;
use crate::environment;
use crate::given::BasedChange;
use crate::host;
use crate::load;
use crate::project_checks;
use crate::proof::{self, UnprovenWork};
use crate::request_text::RequestText;
use crate::workplace::Workplace;
use remand_agents::driver::Prices;
use remand_engine::checkout;
use remand_engine::clock;
use remand_engine::config::{self, ValueOrigin};
use remand_engine::conventions::Conventions;
use remand_engine::given_change::GivenChange;
use remand_engine::host::NewRun;
use remand_engine::judgement;
use remand_engine::pinned::{AgentChoice, Cache, MayWrite, Pinned, PinnedRole, ProofDemand};
use remand_engine::redact::Redactor;
use remand_engine::subject::{Subject, SubjectKind};
use remand_engine::ticket::{Inherited, TicketError, TicketPaths};
use remand_git::CommitId;
use remand_kernel::event::{Limits, Mode, Start};
use remand_kernel::program::Program;
use remand_ledger::fact::{Note, NoteKind, RunOpening};
use remand_ledger::{Blob, BlobId, Facts};
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use remand_workflow::permissions::Writable;
use remand_workflow::roles::Roles;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The workflow that judges a given change.
const VET: &str = "vet";

/// The subject of a run, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectArg {
    Request(RequestText),
    /// The id of an issue.
    Issue(String),
    /// A path relative to the current folder.
    Ticket(PathBuf),
    /// A path relative to the current folder.
    Spec(PathBuf),
    Change(Box<BasedChange>),
}

impl SubjectArg {
    pub fn kind(&self) -> SubjectKind {
        match self {
            SubjectArg::Request(_) => SubjectKind::Request,
            SubjectArg::Issue(_) => SubjectKind::Issue,
            SubjectArg::Ticket(_) => SubjectKind::Ticket,
            SubjectArg::Spec(_) => SubjectKind::Spec,
            SubjectArg::Change(_) => SubjectKind::Change,
        }
    }
}

fn subject(workplace: &Workplace, head: &CommitId, about: &SubjectArg) -> Result<Subject, CommandFailure> {
    let repository = &workplace.repository;
    let path = match about {
        SubjectArg::Request(request) => return Ok(Subject::request(request.text.clone())),
        SubjectArg::Issue(id) => repository.root().join(Subject::issue_file(id)),
        SubjectArg::Ticket(file) | SubjectArg::Spec(file) => workplace.here.join(file),
        SubjectArg::Change(based) => return Ok(Subject::change(judgement::title(&based.change.source))),
    };
    Subject::file(repository, head, about.kind(), &path)
        .map_err(|error| CommandFailure::user(error.to_string(), error.hint()))
}

/// Refuses a subject whose kind the workflow does not accept.
fn refuse_wrong_kind(program: &Program, kind: SubjectKind) -> Result<(), CommandFailure> {
    let expected = SubjectKind::of(&program.subject);
    if expected == kind {
        return Ok(());
    }
    let what =
        format!("`{}` expects a subject of kind {}, not {}", program.name, expected.name(), kind.name());
    Err(CommandFailure::user(what, format!("start it with `{}`, or name another workflow", expected.usage())))
}

/// Refuses two tickets with the same file name: the folder of a ticket's documents is named after it, so both would
/// share it.
fn refuse_shared_folder(workplace: &Workplace, head: &CommitId, file: &str) -> Result<(), CommandFailure> {
    let paths = TicketPaths::for_ticket(Path::new(file));
    let other = paths.namesake(&workplace.repository, head)?;
    let Some(other) = other.map(|other| other.display().to_string()) else { return Ok(()) };
    let what = format!("{file} and {other} would share the folder {}", paths.folder().display());
    Err(CommandFailure::user(
        what,
        format!("rename one of them, for example with `git mv {other} NAME`, and commit the change"),
    ))
}

/// What a ticket inherits from earlier runs. Other subjects inherit nothing.
fn inherited(
    workplace: &Workplace,
    head: &CommitId,
    program: &Program,
    subject: &Subject,
) -> Result<Inherited, CommandFailure> {
    let Some(file) = subject.file.as_deref().filter(|_| subject.kind == SubjectKind::Ticket) else {
        return Ok(Inherited::default());
    };
    refuse_shared_folder(workplace, head, file)?;
    let reader = workplace.reader_if_any()?;
    Inherited::of(program, file, &subject.text, reader.as_ref()).map_err(|error| match &error {
        TicketError::Unreadable(unread) => CommandFailure::user(format!("{file}: {unread}"), error.hint()),
        other => CommandFailure::user(other.to_string(), error.hint()),
    })
}

/// The workflow of a run, and a notice about it unless the command line names it.
fn choose_workflow(config: &config::Config, about: &SubjectArg) -> (String, Option<String>) {
    let origin = config.origin("workflow");
    match (&config.workflow, origin, about) {
        (Some(name), Some(ValueOrigin::Flag(_)), _) => (name.clone(), None),
        (Some(name), Some(origin), SubjectArg::Request(_)) => {
            (name.clone(), Some(format!("workflow {name}, as set in {origin}")))
        }
        (_, _, SubjectArg::Request(request)) => {
            (request.form.workflow().to_string(), Some(request.form.notice()))
        }
        (_, _, SubjectArg::Change(_)) => (VET.to_string(), None),
        // The workflows for other subjects are named after the kind of subject.
        (_, _, other) => (other.kind().name().to_string(), None),
    }
}

/// Collects everything that a new run pins and starts with.
pub fn prepare(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    about: &SubjectArg,
    answer: UnprovenWork,
) -> Result<NewRun, CommandFailure> {
    let config = &workplace.config;
    let roles = load::roles(context)?;
    let (name, workflow_notice) = choose_workflow(config, about);
    let (program, workflow) = load::pinned_workflow(context, &name, &roles)?;
    refuse_unknown_roles(config, &roles)?;
    let mut agents = Agents::new(config)?;
    let roles = pinned_roles(&program, &roles, config, &mut agents)?;
    let agent_notice = agents.found().map(|found| {
        let advice = found.advice().map_or_else(String::new, |advice| format!("; {advice}"));
        format!("agent {}, {}{advice}", found.name, found.reason)
    });
    if !context.json {
        workflow_notice.into_iter().chain(agent_notice).for_each(|notice| tell(&notice));
    }
    let (base, change) = match about {
        SubjectArg::Change(based) => (based.base.clone(), Some(based.change.clone())),
        SubjectArg::Request(_) | SubjectArg::Issue(_) | SubjectArg::Ticket(_) | SubjectArg::Spec(_) => {
            (workplace.repository.head()?.commit, None)
        }
    };
    let subject = subject(workplace, &base, about)?;
    refuse_wrong_kind(&program, subject.kind)?;
    let inherited = inherited(workplace, &base, &program, &subject)?;
    let redactor = host::redactor(&workplace.config)?;
    let request = redactor.redact(&subject.title).into_owned();
    let run = clock::new_run_id(&request);
    let pinned = Pinned {
        version: env!("CARGO_PKG_VERSION").to_string(),
        workflow,
        roles,
        program: program.clone(),
        checks: project_checks::specs(&workplace.repository, &base, config, workplace.home.root())?,
        cache: if config.cache { Cache::On } else { Cache::Off },
        proof: if config.prove {
            ProofDemand::Proof { time: config.prove_time }
        } else {
            ProofDemand::Nothing
        },
        guards: config.guards,
        rounds: config.rounds,
        agents: agents.chosen(),
        conventions: conventions(workplace, &base, &program, &redactor)?,
        prices: Prices::from_config(&config.prices),
        change: change
            .map(|change| GivenChange { purpose: redactor.redact(&change.purpose).into_owned(), ..change }),
    };
    refuse_secrets(&pinned, &redactor)?;
    let mode = match config.mode {
        config::RunMode::Interactive => Mode::Interactive,
        config::RunMode::Autonomous => Mode::Autonomous,
    };
    // A change that nothing can prove is judged all the same: the verdict says so.
    let missing = match pinned.change {
        Some(_) => None,
        None => proof::missing_proof(&program, &pinned.checks, &workplace.repository, &base)?,
    };
    let unproven = proof::settle(&program, missing.as_deref(), mode, answer)?;
    let accepted = missing.filter(|_| unproven).map(|why| {
        Note::new(NoteKind::Degradation, format!("nothing can prove the work: {why}; the user accepted that"))
    });
    let pinned = blob(pinned.text().map(String::into_bytes).map_err(|error| {
        CommandFailure::user("the run cannot be pinned", "this is a bug in Remand")
            .caused_by(error.to_string())
    })?);
    let mut checkout = checkout::inspect(&workplace.repository, &base)?;
    for finding in &mut checkout.findings {
        finding.text = redactor.redact(&finding.text).into_owned();
    }
    let text = blob(redactor.redact(&subject.text).into_owned().into_bytes());
    let facts = Facts {
        opened: Some(RunOpening {
            slug: slug(&request),
            request,
            file: subject.file,
            base: base.to_string(),
            branch: format!("remand/{run}"),
            pinned: pinned.id,
            version: env!("CARGO_PKG_VERSION").to_string(),
            by: Some(environment::user()),
            checkout: Some(checkout),
        }),
        notes: accepted.into_iter().collect(),
        ..Facts::default()
    };
    let start =
        Start { mode, unproven, subject: text.id.digest(), limits: limits(config), ..Start::default() };
    let start = inherited.into_start(start);
    Ok(NewRun { run, program: Arc::new(program), start, facts, blobs: vec![pinned, text] })
}

/// The conventions of the base commit, without secrets. A workflow without roles needs none.
fn conventions(
    workplace: &Workplace,
    head: &CommitId,
    program: &Program,
    redactor: &Redactor,
) -> Result<Conventions, CommandFailure> {
    if program.contracts.is_empty() {
        return Ok(Conventions::default());
    }
    let tree = workplace.repository.tree_of(head)?;
    let mut conventions = Conventions::read(&workplace.repository, &tree, &workplace.config.conventions)?;
    for file in &mut conventions.files {
        file.text = redactor.redact(&file.text).into_owned();
    }
    if let Some(notice) = conventions.notice() {
        tell(&notice);
    }
    Ok(conventions)
}

/// The limits of a run, in the units of the kernel.
pub fn limits(config: &config::Config) -> Limits {
    Limits {
        money: config.limits.money,
        tokens: config.limits.tokens,
        time: config.limits.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        dispatches: config.limits.dispatches,
    }
}

fn blob(bytes: Vec<u8>) -> Blob {
    Blob { id: BlobId::of(&bytes), bytes }
}

/// Refuses secrets in the pinned files, because the ledger stores these without redaction.
fn refuse_secrets(pinned: &Pinned, redactor: &Redactor) -> Result<(), CommandFailure> {
    let workflow =
        (format!("the workflow `{}`", pinned.program.name), serde_json::to_value(&pinned.workflow));
    let roles =
        pinned.roles.iter().map(|(title, role)| (format!("the role `{title}`"), serde_json::to_value(role)));
    let checks =
        pinned.checks.iter().map(|spec| (format!("the check `{}`", spec.name), serde_json::to_value(spec)));
    let agents = pinned
        .agents
        .iter()
        .map(|(name, agent)| (format!("the agent `{name}`"), serde_json::to_value(agent)));
    for (what, value) in std::iter::once(workflow).chain(roles).chain(checks).chain(agents) {
        if let Some(secret) = value.ok().and_then(|value| redactor.first_in(&value)) {
            let what = format!("{what} contains a secret, {secret}, which would be stored with the run");
            let hint = "remove it; a command can read it from a file that is not committed";
            return Err(CommandFailure::user(what, hint));
        }
    }
    Ok(())
}

/// Refuses a setting for a role that does not exist, which would otherwise be ignored silently.
pub fn refuse_unknown_roles(config: &config::Config, roles: &Roles) -> Result<(), CommandFailure> {
    let role = |name: &str| name.split_once(':').map_or(name, |(role, _)| role).to_string();
    let Some(name) = config.roles.keys().find(|name| roles.get(&role(name)).is_none()) else { return Ok(()) };
    let hint = match remand_workflow::diagnostic::nearest(&role(name), roles.titles()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name a shipped role, or a role in .remand/roles".to_string(),
    };
    Err(CommandFailure::user(format!("`[roles.{name}]` names an unknown role"), hint))
}

/// The roles that the program uses, with their prompts and agents.
fn pinned_roles(
    program: &Program,
    roles: &Roles,
    config: &config::Config,
    agents: &mut Agents<'_>,
) -> Result<BTreeMap<String, PinnedRole>, CommandFailure> {
    let mut pinned = BTreeMap::new();
    for contract in &program.contracts {
        let title = contract.title();
        let missing =
            || CommandFailure::user(format!("role `{title}` does not exist"), "add it to .remand/roles");
        let spec = roles.get(&title).ok_or_else(missing)?;
        let text = roles.text(&title).ok_or_else(missing)?;
        let mut default = AgentChoice { seconds: u64::from(spec.time) * 60, ..agents.default_choice()? };
        default.model = spec.model.clone().or(default.model);
        let settings = [config.roles.get(&contract.role), config.roles.get(&title)];
        let by = settings.into_iter().flatten().try_fold(default, |by, choice| agents.choose(by, choice))?;
        let mut by_item = BTreeMap::new();
        for name in [&contract.role, &title] {
            let of_items =
                config.roles.iter().filter_map(|(key, choice)| Some((key.split_once(':')?, choice)));
            for ((_, item), choice) in of_items.filter(|((role, _), _)| role == name) {
                let base = by_item.get(item).unwrap_or(&by).clone();
                by_item.insert(item.to_string(), agents.choose(base, choice)?);
            }
        }
        let role = PinnedRole {
            hash: BlobId::of(text.as_bytes()),
            prompt: roles.prompt(&title).ok_or_else(missing)?,
            result: spec.result.clone(),
            by,
            by_item,
            may_write: spec.may_write.iter().filter_map(|writable| permission(*writable)).collect(),
            network: spec.network,
            remembers: spec.remembers,
            shell: spec.shell,
            delta: spec.delta,
            judges: spec.judges.clone(),
            tree: spec.tree,
        };
        pinned.insert(title, role);
    }
    Ok(pinned)
}

fn permission(writable: Writable) -> Option<MayWrite> {
    match writable {
        Writable::Report => None,
        Writable::TaskFiles => Some(MayWrite::TaskFiles),
        Writable::TaskCode => Some(MayWrite::TaskCode),
        Writable::Tree => Some(MayWrite::Tree),
        Writable::Tests => Some(MayWrite::Tests),
        Writable::Tracker => Some(MayWrite::Tracker),
        Writable::Knowledge => Some(MayWrite::Knowledge),
    }
}

/// A few words of the request, for use in names.
fn slug(request: &str) -> String {
    let words = request.to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut slug = String::new();
    for word in words.iter().take(6) {
        if slug.len() + word.len() > 40 {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(word);
    }
    if slug.is_empty() { "request".to_string() } else { slug }
}

/// The proven maximum number of dispatches, to show it before the run.
pub fn describe_bound(program: &Program, mode: Mode) -> String {
    let worst = |tasks: u16| {
        let bound = remand_workflow::explore::bound(program, &[("tasks", tasks)]).ok()?;
        Some(match mode {
            Mode::Autonomous => bound.autonomous,
            Mode::Interactive => bound.interactive,
        })
    };
    let describe = |worst: remand_workflow::explore::bound::Worst| {
        format!("{} ({} with all retries)", worst.dispatches, worst.with_retries)
    };
    match (worst(1), worst(3)) {
        (Some(one), Some(three)) if one.dispatches == three.dispatches => {
            format!("{} dispatches, {} with all retries", one.dispatches, one.with_retries)
        }
        (Some(one), Some(three)) => {
            format!("{} dispatches for one task, {} for three", describe(one), describe(three))
        }
        (None, _) | (_, None) => "unknown, because the worst case is too large to compute".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_few_plain_words() {
        assert_eq!(slug("Add a Discount-Code to `cart.total()`, please!"), "add-a-discount-code-to-cart");
        assert_eq!(slug("  ¿?"), "request");
    }
}
