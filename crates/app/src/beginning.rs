//! What a run begins with: the workflow, roles and checks it is pinned to, its limits, and its first facts.

use crate::agents::Agents;
use crate::commands::Context;
use crate::commands::runs::reader_if_any;
use crate::driving;
use crate::exit::Failure;
use crate::found;
use crate::load;
use crate::workplace::{Workplace, of_git};
use remand_kernel::event::{Limits, Mode, Start};
use remand_kernel::program::Program;
use remand_ledger::fact::Opened;
use remand_ledger::{Blob, BlobId, Facts};
use remand_runtime::clock;
use remand_runtime::config;
use remand_runtime::driver::Prices;
use remand_runtime::git::CommitId;
use remand_runtime::host::Beginning;
use remand_runtime::operations;
use remand_runtime::papers::{Inherited, Shelf, Unfit};
use remand_runtime::pinned::{Cache, Choice, MayWrite, Pinned, PinnedRole};
use remand_runtime::redact::Redactor;
use remand_runtime::subject::{Kind, Subject};
use remand_workflow::permissions::Writable;
use remand_workflow::roles::Roles;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest request that is taken.
const LONGEST: u64 = 256 * 1024;

/// The request itself, or what standard input holds for `-`.
pub fn request(given: &str) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_string());
    }
    let mut text = String::new();
    std::io::stdin().take(LONGEST + 1).read_to_string(&mut text).map_err(|error| {
        Failure::user("the request cannot be read from standard input", "send text")
            .caused_by(error.to_string())
    })?;
    if text.len() as u64 > LONGEST {
        return Err(Failure::user(
            "the request is too long",
            format!("keep it below {} KiB", LONGEST / 1024),
        ));
    }
    Ok(text)
}

/// What a new run is to be about, as the user said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    Request(String),
    /// By its id.
    Issue(String),
    /// Files, from where the user stands.
    Ticket(PathBuf),
    Spec(PathBuf),
}

impl About {
    pub fn kind(&self) -> Kind {
        match self {
            About::Request(_) => Kind::Request,
            About::Issue(_) => Kind::Issue,
            About::Ticket(_) => Kind::Ticket,
            About::Spec(_) => Kind::Spec,
        }
    }
}

fn subject(workplace: &Workplace, head: &CommitId, about: &About) -> Result<Subject, Failure> {
    let repository = &workplace.repository;
    let path = match about {
        About::Request(text) => return Ok(Subject::request(text.clone())),
        About::Issue(id) => repository.root().join(Subject::issue_file(id)),
        About::Ticket(file) | About::Spec(file) => workplace.here.join(file),
    };
    Subject::file(repository, head, about.kind(), &path)
        .map_err(|error| Failure::user(error.to_string(), error.hint()))
}

/// A workflow is given what it is about, and nothing else.
fn refuse_unfit(program: &Program, kind: Kind) -> Result<(), Failure> {
    let wanted = Kind::of(&program.subject);
    if wanted == kind {
        return Ok(());
    }
    let what = format!("`{}` takes a {}, and this is a {}", program.name, wanted.name(), kind.name());
    Err(Failure::user(what, format!("start it with `{}`, or name another workflow", wanted.usage())))
}

/// Tickets are called by the name of their file, whatever folder it lies in, and so is the folder of their papers.
fn refuse_namesake(workplace: &Workplace, head: &CommitId, file: &str) -> Result<(), Failure> {
    let shelf = Shelf::for_ticket(Path::new(file));
    let other = shelf.namesake(&workplace.repository, head).map_err(|error| of_git(&error))?;
    let Some(other) = other.map(|other| other.display().to_string()) else { return Ok(()) };
    let what =
        format!("{file} and {other} would have the same folder of papers, {}", shelf.folder().display());
    Err(Failure::user(
        what,
        format!("give one of them another name, such as by `git mv {other} NAME`, and commit that"),
    ))
}

/// What a ticket brings with it; nothing for any other subject.
fn inherited(
    workplace: &Workplace,
    head: &CommitId,
    program: &Program,
    subject: &Subject,
) -> Result<Inherited, Failure> {
    let Some(file) = subject.file.as_deref().filter(|_| subject.kind == Kind::Ticket) else {
        return Ok(Inherited::default());
    };
    refuse_namesake(workplace, head, file)?;
    let reader = reader_if_any(workplace)?;
    Inherited::of(program, file, &subject.text, reader.as_ref()).map_err(|error| match &error {
        Unfit::Unreadable(unread) => Failure::user(format!("{file}, {unread}"), error.hint()),
        other => Failure::user(other.to_string(), error.hint()),
    })
}

/// Everything that a new run is pinned to.
pub fn prepare(context: &Context<'_>, workplace: &Workplace, about: &About) -> Result<Beginning, Failure> {
    let config = &workplace.config;
    let roles = load::roles(context)?;
    let (program, workflow) = load::pinned(context, &config.workflow, &roles)?;
    refuse_unheard(config, &roles)?;
    refuse_undoable(&program)?;
    let mut agents = Agents::new(config)?;
    let roles = pinned_roles(&program, &roles, config, &mut agents)?;
    let head = workplace.repository.head().map_err(|error| of_git(&error))?;
    let subject = subject(workplace, &head.commit, about)?;
    refuse_unfit(&program, subject.kind)?;
    let inherited = inherited(workplace, &head.commit, &program, &subject)?;
    let redactor = driving::redactor(workplace)?;
    let request = redactor.redact(&subject.title).into_owned();
    let run = clock::new_run_id(&request);
    let pinned = Pinned {
        version: env!("CARGO_PKG_VERSION").to_string(),
        workflow,
        roles,
        program: program.clone(),
        checks: found::specs(&workplace.repository, &head.commit, config, workplace.home.root())?,
        cache: if config.cache { Cache::On } else { Cache::Off },
        rounds: config.rounds,
        agents: agents.chosen(),
        prices: Prices::with(&config.prices),
    };
    refuse_secrets(&pinned, &redactor)?;
    let pinned = blob(pinned.text().map(String::into_bytes).map_err(|error| {
        Failure::user("the run cannot be pinned", "this is a defect of remand").caused_by(error.to_string())
    })?);
    let text = blob(redactor.redact(&subject.text).into_owned().into_bytes());
    let facts = Facts {
        opened: Some(Opened {
            slug: slug(&request),
            request,
            file: subject.file,
            base: head.commit.to_string(),
            branch: format!("remand/{run}"),
            pinned: pinned.id,
            version: env!("CARGO_PKG_VERSION").to_string(),
        }),
        ..Facts::default()
    };
    let start = Start {
        mode: match config.mode {
            config::Mode::Interactive => Mode::Interactive,
            config::Mode::Autonomous => Mode::Autonomous,
        },
        subject: text.id.digest(),
        limits: limits(config),
        ..Start::default()
    };
    let start = inherited.into_start(start);
    Ok(Beginning { run, program: Arc::new(program), start, facts, blobs: vec![pinned, text] })
}

/// The limits of a run as the kernel counts them.
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

/// What a run is pinned to is kept in the ledger word for word, where no secret may be (EP-30).
fn refuse_secrets(pinned: &Pinned, redactor: &Redactor) -> Result<(), Failure> {
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
            let what = format!("{what} holds a secret, {secret}, and would be kept with the run");
            let hint = "take it out; a command can read it from a file that is not committed";
            return Err(Failure::user(what, hint));
        }
    }
    Ok(())
}

/// A workflow that needs what this version cannot do is refused before anything runs.
fn refuse_undoable(program: &Program) -> Result<(), Failure> {
    let missing: Vec<&str> = program
        .operations
        .iter()
        .map(|operation| operation.name.as_str())
        .filter(|name| !operations::is_available(name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!("this version cannot run `{}`: it lacks {}", program.name, missing.join(", "));
    Err(Failure::user(
        what,
        "`remand walk` goes through it on paper; `remand reference` lists the operations",
    ))
}

/// A setting about a role that there is not would be passed over in silence.
pub fn refuse_unheard(config: &config::Config, roles: &Roles) -> Result<(), Failure> {
    let role = |name: &str| name.split_once(':').map_or(name, |(role, _)| role).to_string();
    let Some(name) = config.roles.keys().find(|name| roles.get(&role(name)).is_none()) else { return Ok(()) };
    let hint = match remand_workflow::diagnostic::nearest(&role(name), roles.titles()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name a role of roles/ or .remand/roles".to_string(),
    };
    Err(Failure::user(format!("`[roles.{name}]` is about no role"), hint))
}

/// The roles that the program uses, with their prompts and those who do them.
fn pinned_roles(
    program: &Program,
    roles: &Roles,
    config: &config::Config,
    agents: &mut Agents<'_>,
) -> Result<BTreeMap<String, PinnedRole>, Failure> {
    let mut pinned = BTreeMap::new();
    for contract in &program.contracts {
        let title = contract.title();
        let missing = || Failure::user(format!("there is no role `{title}`"), "add it to .remand/roles");
        let spec = roles.get(&title).ok_or_else(missing)?;
        let text = roles.text(&title).ok_or_else(missing)?;
        let mut usual = Choice { seconds: u64::from(spec.time) * 60, ..agents.usual()? };
        usual.model = spec.model.clone().or(usual.model);
        let named = [config.roles.get(&contract.role), config.roles.get(&title)];
        let by = named.into_iter().flatten().try_fold(usual, |by, choice| agents.choose(by, choice))?;
        let mut by_item = BTreeMap::new();
        for name in [&contract.role, &title] {
            let own = config.roles.iter().filter_map(|(key, choice)| Some((key.split_once(':')?, choice)));
            for ((_, item), choice) in own.filter(|((role, _), _)| role == name) {
                let under = by_item.get(item).unwrap_or(&by).clone();
                by_item.insert(item.to_string(), agents.choose(under, choice)?);
            }
        }
        let role = PinnedRole {
            hash: BlobId::of(text.as_bytes()),
            prompt: roles.prompt(&title).ok_or_else(missing)?,
            result: spec.result.clone(),
            by,
            by_item,
            may_write: spec.may_write.iter().filter_map(|place| permission(*place)).collect(),
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

fn permission(place: Writable) -> Option<MayWrite> {
    match place {
        Writable::Report => None,
        Writable::TaskFiles => Some(MayWrite::TaskFiles),
        Writable::TaskCode => Some(MayWrite::TaskCode),
        Writable::Tree => Some(MayWrite::Tree),
        Writable::Tests => Some(MayWrite::Tests),
        Writable::Tracker => Some(MayWrite::Tracker),
        Writable::Knowledge => Some(MayWrite::Knowledge),
    }
}

/// A few words of the request, fit for names.
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

/// The worst case, as a person reads it before the run (EP-25).
pub fn bound(program: &Program, mode: Mode) -> String {
    let worst = |tasks: u16| {
        let bound = remand_workflow::explore::bound(program, &[("tasks", tasks)]).ok()?;
        Some(match mode {
            Mode::Autonomous => bound.autonomous,
            Mode::Interactive => bound.interactive,
        })
    };
    let words = |worst: remand_workflow::explore::bound::Worst| {
        format!("{} ({} with all retries)", worst.dispatches, worst.with_retries)
    };
    match (worst(1), worst(3)) {
        (Some(one), Some(three)) if one.dispatches == three.dispatches => {
            format!("at most {} dispatches, {} with all retries", one.dispatches, one.with_retries)
        }
        (Some(one), Some(three)) => {
            format!("at most {} dispatches for one task, {} for three", words(one), words(three))
        }
        (None, _) | (_, None) => "its worst case is too large to be counted through".to_string(),
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
