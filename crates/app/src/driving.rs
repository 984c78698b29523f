//! Driving runs from the command line: opening a host, going on until a human is needed, and saying how it stands.

use crate::cli;
use crate::commands::{Context, gates};
use crate::exit::{Exit, Failure, print, print_json, print_line, tell};
use crate::progress::{self, Stop};
use crate::table::{Ink, line};
use crate::terminal::{self, Reply, Terminal};
use crate::workplace::{Workplace, environment, internal, of_ledger};
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_kernel::ids::{CommandId, Lane, PhaseId};
use remand_kernel::state::End;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{GateRow, NoteRow, RequestFate, RunRow};
use remand_ledger::{Reader, RunId};
use remand_runtime::checks::Tools;
use remand_runtime::clock;
use remand_runtime::host::{Host, HostError, Standing, Unwatched, Watch};
use remand_runtime::lock::{DriverLock, LockError};
use remand_runtime::redact::{Redactor, Rules};
use remand_runtime::workshop::{Places, Settings, Workshop, is_laid_out, not_brought, not_laid_out};
use remand_runtime::{bundle, confine};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// How long a command waits for the process that drives a run.
const PATIENCE: Duration = Duration::from_secs(10);

/// What agents and checks see of the user's environment.
const INHERITED: [&str; 12] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "TZ",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
    "GOPATH",
    "GOCACHE",
    "NVM_DIR",
];

/// A host with real effects.
pub fn host(workplace: &Workplace) -> Result<Host<Workshop>, Failure> {
    confine::close_to_others();
    let ledger = workplace.ledger()?;
    Host::new(ledger, Workshop::new(settings(workplace)?), workplace.home.runs())
        .map_err(|error| of_host(&error))
}

/// What agents and checks inherit of the user's environment.
pub fn inherited() -> BTreeMap<OsString, OsString> {
    let mut inherited: BTreeMap<OsString, OsString> =
        INHERITED.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect();
    let user_home = user_home();
    // Toolchains that live in the user's home are found there although agents have a home of their own.
    let usual = [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("GOMODCACHE", "go/pkg/mod")];
    for (name, folder) in usual {
        let usual = std::path::Path::new(&user_home).join(folder);
        if usual.is_dir() {
            inherited.entry(name.into()).or_insert_with(|| usual.into_os_string());
        }
    }
    inherited
}

fn user_home() -> OsString {
    std::env::var_os("HOME").unwrap_or_else(|| OsString::from("/"))
}

fn settings(workplace: &Workplace) -> Result<Settings, Failure> {
    let program =
        std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
    let (sandbox, enforcement) = (workplace.config.sandbox.clone(), confine::probe());
    if sandbox.required && !enforcement.gaps.is_empty() {
        let what = format!(
            "the sandbox is required, and this machine does not enforce {}",
            enforcement.gaps.join(", ")
        );
        return Err(Failure::user(what, "see `remand doctor`, or set `sandbox.required = false`"));
    }
    let named = sandbox.environment.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    Ok(Settings {
        agent_environment: named.collect(),
        sandbox,
        home: workplace.home.clone(),
        repository: workplace.repository.clone(),
        program,
        environment: inherited(),
        user_home: user_home(),
        redactor: redactor(workplace)?,
        enforcement,
        places: Places::new(workplace.config.at_once),
        tools: Tools::default(),
    })
}

/// Takes secrets out of everything that is stored.
pub fn redactor(workplace: &Workplace) -> Result<Redactor, Failure> {
    let secrets = &workplace.config.secrets;
    let patterns = secrets
        .patterns
        .iter()
        .enumerate()
        .map(|(at, pattern)| (format!("pattern {}", at + 1), pattern.clone()))
        .collect();
    let rules = Rules { secret_variables: secrets.environment.clone(), patterns };
    Redactor::new(environment(), &rules)
        .map_err(|error| Failure::user(error.to_string(), "correct `secrets.patterns` in the configuration"))
}

/// Tells whether something is left to do for a run that is over: the process that drove it was killed, or its branch was
/// held.
pub fn is_unfinished(workplace: &Workplace, row: &RunRow) -> bool {
    let folder = workplace.home.run(&row.run);
    row.stage.is_over() && folder.is_dir() && !is_laid_out(&folder)
}

/// Drives until no run can go on by itself. At a terminal, gates are put there, in whichever mode the run is.
pub fn drive(
    context: &Context<'_>,
    workplace: &Workplace,
    mut host: Host<Workshop>,
) -> Result<Exit, Failure> {
    let stop = Stop::listen();
    let mut watch = progress::view(context.json, &stop);
    let (reader, redactor) = (workplace.reader()?, redactor(workplace)?);
    let terminal = Terminal { reader: &reader, redactor: &redactor, stop: &stop };
    loop {
        let standings = host.drive(watch.as_mut()).map_err(|error| of_host(&error))?;
        let waiting = standings
            .iter()
            .find(|(_, standing)| **standing == Standing::Waiting)
            .map(|(run, _)| run.clone());
        if let Some(run) = waiting
            && !context.json
            && Terminal::is_there()
            && let Some(gate) = open_gates(&reader, &run)?.first()
        {
            match terminal.ask(gate, |run| standings.contains_key(run))? {
                Reply::Answered(event) => submit(&mut host, &run, event, watch.as_mut())?,
                Reply::Overtaken(request) => tell(&format!("\n{}", terminal::told(&request))),
                Reply::Silence => {
                    tell("no answer; the gate waits");
                    return report_all(context, workplace, &reader, &standings);
                }
            }
            continue;
        }
        drop(watch);
        return report_all(context, workplace, &reader, &standings);
    }
}

/// What the kernel refuses can be answered anew; anything else ends the drive, since memory and ledger may differ.
fn submit(
    host: &mut Host<Workshop>,
    run: &RunId,
    event: Event,
    watch: &mut dyn Watch,
) -> Result<(), Failure> {
    match host.submit(run, event, watch) {
        Err(error @ HostError::Refused { .. }) => {
            of_host(&error).print();
            Ok(())
        }
        other => other.map_err(|error| of_host(&error)),
    }
}

/// The gates of a run that wait.
pub fn open_gates(reader: &Reader, run: &RunId) -> Result<Vec<GateRow>, Failure> {
    let gates = reader.gates(run).map_err(|error| of_ledger(&error))?;
    Ok(gates.into_iter().filter(GateRow::is_open).collect())
}

/// The event that answers a gate.
pub fn answered(gate: &GateRow, option: &str, note: &str) -> Result<Event, Failure> {
    Ok(Event::Answered {
        id: gate_id(gate)?,
        option: option.to_string(),
        by: user(),
        note: note.to_string(),
        flags: Vec::new(),
        grants: Grants::AskedFor,
    })
}

/// The command that a gate waits to have answered.
pub fn gate_id(gate: &GateRow) -> Result<CommandId, Failure> {
    command_id(&gate.command).ok_or_else(|| {
        Failure::user(format!("gate {} cannot be answered", gate.command), "see `remand gates`")
    })
}

/// Who answers: the name that the system knows.
pub fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "a human".to_string())
}

/// Reads a command id as it is shown: `p3.v1.s0.a1`, or `p3.b1t2.v1.s0.a1` for a task.
pub fn command_id(text: &str) -> Option<CommandId> {
    let mut parts = text.split('.');
    let number = |part: Option<&str>, mark: char| part?.strip_prefix(mark)?.parse::<u16>().ok();
    let phase = PhaseId(number(parts.next(), 'p')?);
    let mut next = parts.next();
    let lane = match next.and_then(|part| part.strip_prefix('b')) {
        Some(task) => {
            let (batch, index) = task.split_once('t')?;
            next = parts.next();
            Lane::Task { batch: batch.parse().ok()?, index: index.parse::<u16>().ok()?.checked_sub(1)? }
        }
        None => Lane::Main,
    };
    let visit = number(next, 'v')?;
    let (seat, attempt) = (number(parts.next(), 's')?, number(parts.next(), 'a')?);
    Some(CommandId { phase, lane, visit, seat, attempt })
}

fn report_all(
    context: &Context<'_>,
    workplace: &Workplace,
    reader: &Reader,
    standings: &BTreeMap<RunId, Standing>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for (run, standing) in standings {
        exit = exit.max_with(report(context, workplace, reader, run, standing)?);
    }
    Ok(exit)
}

/// Says how a run stands and what can be done next.
fn report(
    context: &Context<'_>,
    workplace: &Workplace,
    reader: &Reader,
    run: &RunId,
    standing: &Standing,
) -> Result<Exit, Failure> {
    let row = reader.run(&run.0).map_err(|error| of_ledger(&error))?;
    let operations = reader.operations(run).map_err(|error| of_ledger(&error))?;
    let committed = operations.iter().any(|row| row.result.as_deref() == Some("committed"));
    let exit = match standing {
        Standing::Over(End::Done) if !committed => Exit::HandedOver,
        Standing::Over(End::Done) => Exit::Done,
        Standing::Over(End::Failed { .. } | End::Stopped { .. } | End::Cancelled { .. }) => Exit::Failed,
        Standing::Waiting => Exit::Waiting,
        Standing::Left => Exit::Left,
    };
    let resume = cli::command(format!("resume {run}"));
    if matches!(standing, Standing::Over(_)) {
        let folder = workplace.home.run(run);
        let missing = [
            ("the documents of the run are not on its branch", not_brought(&folder)),
            ("what the run left is not all in its folder", not_laid_out(&folder)),
        ];
        for (what, why) in missing {
            if let Some(why) = why {
                tell(&format!("{what}: {why}; then `{resume}`"));
            }
        }
    }
    let gates = open_gates(reader, run)?;
    if context.json {
        let gates: Vec<_> =
            gates.iter().map(|gate| json!({ "gate": gate.command, "question": gate.question })).collect();
        let untold = reader.totals(run).map_err(|error| of_ledger(&error))?.untold;
        print_line(&json!({
            "run": run, "stage": row.stage, "ended": row.ended, "confidence": row.trusted(),
            "branch": row.branch, "used": row.used, "untold": untold, "gates": gates, "exit": exit.number(),
        }))?;
        return Ok(exit);
    }
    let mut text = String::new();
    match standing {
        Standing::Over(_) => {
            let ended = line::one(row.ended.as_deref().unwrap_or("over"));
            let notes = reader.notes(run).map_err(|error| of_ledger(&error))?;
            let confidence = row.trusted().name();
            text.push_str(&format!("\nrun {run}: {ended}, confidence {confidence}\n"));
            if let Some(outcome) = outcome(reader, run, exit, &notes)? {
                text.push_str(&format!("{outcome}\n"));
            }
            let page = workplace.home.run(run).join(bundle::FILE);
            if page.exists() {
                text.push_str(&format!("evidence: {}\n", page.display()));
            }
            text.push_str("look closer:\n");
            for name in ["log", "evidence", "diff"] {
                text.push_str(&format!("  {}\n", cli::command(format!("{name} {run}"))));
            }
        }
        Standing::Waiting if gates.is_empty() => {
            text.push_str(&format!("\nrun {run} is paused; `{resume}` lets it go on\n"));
        }
        Standing::Waiting => {
            text.push_str(&format!("\nrun {run} waits for you:\n"));
            for gate in &gates {
                text.push_str(&format!("\n{}", gates::text_of(reader, gate, &gates, Ink::of_stdout())?));
            }
        }
        Standing::Left => {
            let cancel = cli::command(format!("cancel {run}"));
            text.push_str(&format!("\nstopped driving run {run}; `{resume}` goes on, `{cancel}` ends it\n"));
        }
    }
    print(&text)?;
    Ok(exit)
}

/// What became of the work of a run that is over: the commit, how to take it, or why there is none.
fn outcome(reader: &Reader, run: &RunId, exit: Exit, notes: &[NoteRow]) -> Result<Option<String>, Failure> {
    let last = |kind: NoteKind, start: &str| {
        let told = notes.iter().rev().find(|note| note.kind == kind && note.text.starts_with(start));
        told.map(|note| note.text.clone())
    };
    match exit {
        Exit::Done => Ok(last(NoteKind::Decision, "committed")),
        Exit::HandedOver => Ok(last(NoteKind::Warning, "")),
        Exit::User | Exit::Refused | Exit::Failed | Exit::Waiting | Exit::Left | Exit::Internal => {
            let rulings = reader.rulings(run, 0).map_err(|error| of_ledger(&error))?;
            Ok(rulings.last().map(|row| format!("{}: {}", row.ruling.phase, row.ruling.why)))
        }
    }
}

/// Has a run take what a human did, whether it is over or not, without going on with it. Gives how this ends where the
/// process that drives the run took it.
pub fn put(
    context: &Context<'_>,
    workplace: &Workplace,
    run: &RunId,
    event: &Event,
) -> Result<Option<Exit>, Failure> {
    let mut host = host(workplace)?;
    loop {
        match host.take_over(run) {
            Ok(_) => {
                host.submit(run, event.clone(), &mut Unwatched).map_err(|error| of_host(&error))?;
                return Ok(None);
            }
            Err(HostError::Lock(LockError::Held { .. })) => {
                let request =
                    host.ledger().request(run, clock::now(), event).map_err(|error| of_ledger(&error))?;
                if let Fate::Over(exit) = await_fate(context, workplace, run, request)? {
                    return Ok(Some(exit));
                }
            }
            Err(error) => return Err(of_host(&error)),
        }
    }
}

/// What became of a request to the process that drives a run.
pub enum Fate {
    Over(Exit),
    /// That process is gone and has not taken it.
    Free,
}

/// Waits until the process that drives a run has taken a request, or is gone.
pub fn await_fate(
    context: &Context<'_>,
    workplace: &Workplace,
    run: &RunId,
    request: i64,
) -> Result<Fate, Failure> {
    let reader = workplace.reader()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match reader.fate(request).map_err(|error| of_ledger(&error))? {
            RequestFate::Taken => {
                match context.json {
                    true => print_json(&json!({ "request": "taken" })),
                    false => print("taken\n"),
                }?;
                return Ok(Fate::Over(Exit::Done));
            }
            RequestFate::Refused(why) => {
                let hint = "see `remand status` and `remand gates`";
                return Err(Failure::user(format!("refused: {why}"), hint));
            }
            RequestFate::Waiting if DriverLock::holder(&workplace.home.run(run)).is_none() => {
                return Ok(Fate::Free);
            }
            RequestFate::Waiting if Instant::now() > deadline => {
                let what = "the process that drives the run has not taken it yet";
                let hint = "it will as soon as it can; `remand status` shows whether it did";
                return Err(Failure { exit: Exit::Waiting, ..Failure::user(what, hint) });
            }
            RequestFate::Waiting => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// A host that cannot go on, for people.
pub fn of_host(error: &HostError) -> Failure {
    let mut failure = match error {
        HostError::Ledger(error) => return of_ledger(error),
        HostError::Lock(error) => Failure::user(error.to_string(), "wait for it, or end that process"),
        HostError::Replay { source, .. } => {
            Failure::user(error.to_string(), source.hint()).caused_by(source.to_string())
        }
        HostError::Refused { source, .. } => {
            Failure::user(error.to_string(), "see `remand status` and `remand gates`")
                .caused_by(source.to_string())
        }
        HostError::NotDriven(_) => Failure::user(error.to_string(), "resume it first"),
    };
    let mut source = std::error::Error::source(error).and_then(std::error::Error::source);
    while let Some(cause) = source {
        failure = failure.caused_by(cause.to_string());
        source = cause.source();
    }
    failure
}
