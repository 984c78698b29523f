//! The time to restore the state of a very long run.

use super::answers::Answers;
use super::child::{BenchProbe, printed_number, run_probe};
use super::folder::BenchFolder;
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::track::ledger_of;
use super::workload::{EVENTS_PER_LONG_TASK, LONG_OBJECTING_PHASE, Workload, bug};
use remand_engine::clock;
use remand_engine::host::NewRun;
use remand_engine::turn::CommandEnding;
use remand_kernel::event::Mode;
use remand_kernel::{Command, Event, Program, State, Step, step};
use remand_ledger::{Blob, Facts, JournalEntry, Ledger, Reader, ReplayFrom, RunId, replay};
use remand_terminal::CommandFailure;
use remand_terminal::output::print;
use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

const EVENTS: u32 = 200_000;

const TRIES: u32 = 9;

/// The number of processes; only the fastest counts, because other work on the machine can only add time.
const PROCESSES: u32 = 3;

/// The number of the run.
const RUN: u32 = 1;

/// The number of events per commit while the run is written.
const EVENTS_PER_COMMIT: u32 = 512;

/// Creates one long run, and resumes it from its first event and from its last snapshot.
pub fn measure(bench: &BenchFolder, scale: Scale) -> Result<Vec<Figure>, CommandFailure> {
    let workload = Workload::long()?;
    let folder = bench.subfolder("resume")?;
    let events = scale.of(EVENTS);
    write_run(&workload, &ledger_of(&folder), events)?;
    // Otherwise, writing back would compete with the two measured threads.
    rustix::fs::sync();
    // A new process resumes the run, with nothing else in its memory.
    let mut ended = run_probe(BenchProbe::Resume, &folder, TRIES, &[])?;
    for _ in 1..PROCESSES {
        let next = run_probe(BenchProbe::Resume, &folder, TRIES, &[])?;
        if printed_number::<f64>(&next, "start")? < printed_number::<f64>(&ended, "start")? {
            ended = next;
        }
    }
    let millis = |word: &str| printed_number::<f64>(&ended, word).map(|micros| micros / 1e3);
    let (resumed, kilobytes) =
        (printed_number::<u64>(&ended, "events")?, printed_number::<u64>(&ended, "kilobytes")?);
    Ok(vec![
        Figure {
            what: format!("resume of {events} events"),
            value: millis("start")?,
            unit: Unit::Millis,
            goal: Goal::AtMost(250.0),
            note: format!(
                "one run of {resumed} events, a fifth of them code changes; `replay` on a new connection in a new \
                 process, median of {TRIES}, in the best of {PROCESSES}"
            ),
        },
        Figure {
            what: "the same from a snapshot".to_string(),
            value: millis("snapshot")?,
            unit: Unit::Millis,
            goal: Goal::AtMost(10.0),
            note: format!(
                "the same run, restored as `remand resume` does; the state is {kilobytes} KB of JSON"
            ),
        },
    ])
}

/// Resumes the run of a folder `tries` times from its start and from its snapshot, and prints the times.
pub fn probe(folder: &Path, tries: u32) -> Result<(), CommandFailure> {
    let path = ledger_of(folder);
    let NewRun { run, .. } = Workload::long()?.beginning(RUN, Mode::Autonomous);
    let start = resume(&path, &run, ReplayFrom::Start, tries)?;
    let snapshot = resume(&path, &run, ReplayFrom::Snapshot, tries)?;
    if start.state != snapshot.state {
        return Err(bug(format!(
            "run {run} has a different state when replayed from its snapshot than from its start"
        )));
    }
    let micros = |resumed: &Resumed| resumed.times.median().as_micros();
    print(&format!(
        "start {}\nsnapshot {}\nevents {}\nkilobytes {}\n",
        micros(&start),
        micros(&snapshot),
        start.events,
        snapshot.kilobytes()
    ))
}

struct Resumed {
    times: Durations,
    state: State,
    events: u64,
}

impl Resumed {
    fn kilobytes(&self) -> usize {
        serde_json::to_string(&self.state).map_or(0, |text| text.len() / 1000)
    }
}

fn resume(path: &Path, run: &RunId, from: ReplayFrom, tries: u32) -> Result<Resumed, CommandFailure> {
    let mut times = Durations::default();
    let mut last = None;
    for _ in 0..tries {
        let started = Instant::now();
        let reader = Reader::open(path)?;
        let replayed = replay(&reader, run, from).map_err(|error| {
            bug(format!("run {run} of the measurement cannot be resumed")).caused_by(error.to_string())
        })?;
        times.add(started.elapsed());
        last = Some(replayed);
    }
    let replayed = last.ok_or_else(|| bug(format!("run {run} was never resumed")))?;
    Ok(Resumed { times, state: replayed.state, events: replayed.seq })
}

/// A step that is not committed yet.
struct UncommittedStep {
    event: Event,
    facts: Facts,
    blobs: Vec<Blob>,
    step: Step,
}

/// Writes a run with this many events to a new ledger, many per commit.
fn write_run(workload: &Workload, path: &Path, events: u32) -> Result<(), CommandFailure> {
    let tasks = u16::try_from(events / EVENTS_PER_LONG_TASK + 1).unwrap_or(u16::MAX);
    let mut answers = Answers::objecting(tasks, LONG_OBJECTING_PHASE);
    let program: &Program = &workload.program;
    let mut ledger = Ledger::open(path)?;
    let NewRun { run, start, facts, blobs, .. } = workload.beginning(RUN, Mode::Autonomous);
    let mut state = State::new(program);
    let mut open: VecDeque<Command> = VecDeque::new();
    let mut next = Some((Event::Started(start), facts, blobs));
    let mut batch: Vec<UncommittedStep> = Vec::new();
    for seq in 1..=events {
        let Some((event, facts, blobs)) = next.take() else {
            return Err(bug(format!("run {run} of the measurement ended too early")));
        };
        let step = step(program, &mut state, &event).map_err(|refusal| {
            bug(format!("run {run} of the measurement is refused")).caused_by(refusal.to_string())
        })?;
        open.extend(step.commands.iter().cloned());
        batch.push(UncommittedStep { event, facts, blobs, step });
        if seq % EVENTS_PER_COMMIT == 0 {
            append(&mut ledger, &run, &mut batch)?;
        }
        next = next_event(&mut answers, program, &mut open);
    }
    append(&mut ledger, &run, &mut batch)
}

fn next_event(
    answers: &mut Answers,
    program: &Program,
    open: &mut VecDeque<Command>,
) -> Option<(Event, Facts, Vec<Blob>)> {
    while let Some(command) = open.pop_front() {
        if let (Some(id), Some(ending)) = (command.id(), answers.ending(program, &command)) {
            let CommandEnding { outcome, usage, facts, blobs } = ending;
            return Some((Event::Ended { id, outcome, usage }, facts, blobs));
        }
    }
    None
}

fn append(ledger: &mut Ledger, run: &RunId, batch: &mut Vec<UncommittedStep>) -> Result<(), CommandFailure> {
    let at = clock::now();
    let entries: Vec<JournalEntry<'_>> = batch
        .iter()
        .map(|UncommittedStep { event, facts, blobs, step }| JournalEntry {
            run,
            at,
            event,
            facts,
            step,
            blobs,
            request: None,
        })
        .collect();
    ledger.append(&entries).and_then(|_| ledger.catch_up())?;
    batch.clear();
    Ok(())
}
