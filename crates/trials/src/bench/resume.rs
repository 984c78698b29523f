//! The time to restore the state of a very long run.

use super::answers::Answers;
use super::child::{BenchProbe, printed, start};
use super::place::BenchFolder;
use super::report::{Figure, Goal, Unit};
use super::sample::Durations;
use super::scale::Scale;
use super::track::ledger_of;
use super::workload::{LONG_OBJECTS, LONG_TASK, Workload, defect};
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

/// Both processors are busy all the time, so other work only adds time: the best process counts.
const PROCESSES: u32 = 3;

/// The number of the run.
const RUN: u32 = 1;

/// Events of one commit while the run is made.
const AT_ONCE: u32 = 512;

/// Creates one long run, and resumes it from its first event and from its last snapshot.
pub fn measure(place: &BenchFolder, scale: Scale) -> Result<Vec<Figure>, CommandFailure> {
    let workload = Workload::long()?;
    let folder = place.part("resume")?;
    let events = scale.of(EVENTS);
    make(&workload, &ledger_of(&folder), events)?;
    // Writing back would be a third thread next to the two measured ones.
    rustix::fs::sync();
    // A new process resumes the run, with nothing else in its memory.
    let mut ended = start(BenchProbe::Resume, &folder, TRIES, &[])?;
    for _ in 1..PROCESSES {
        let next = start(BenchProbe::Resume, &folder, TRIES, &[])?;
        if printed::<f64>(&next, "start")? < printed::<f64>(&ended, "start")? {
            ended = next;
        }
    }
    let millis = |word: &str| printed::<f64>(&ended, word).map(|micros| micros / 1e3);
    let (resumed, kilobytes) = (printed::<u64>(&ended, "events")?, printed::<u64>(&ended, "kilobytes")?);
    Ok(vec![
        Figure {
            what: format!("resume of {events} events"),
            value: millis("start")?,
            unit: Unit::Millis,
            goal: Goal::AtMost(250.0),
            note: format!(
                "one run of {resumed} events, a fifth of them changes of code; `replay` on a new connection in a new \
                 process, median of {TRIES}, in the best of {PROCESSES}"
            ),
        },
        Figure {
            what: "the same from a snapshot".to_string(),
            value: millis("snapshot")?,
            unit: Unit::Millis,
            goal: Goal::AtMost(10.0),
            note: format!(
                "the same run and the way `remand resume` goes; the state is {kilobytes} KB of JSON"
            ),
        },
    ])
}

/// Resumes the run of a folder `count` times from its start and from its snapshot, and prints the times.
pub fn in_child(folder: &Path, tries: u32) -> Result<(), CommandFailure> {
    let path = ledger_of(folder);
    let NewRun { run, .. } = Workload::long()?.beginning(RUN, Mode::Autonomous);
    let start = resume(&path, &run, ReplayFrom::Start, tries)?;
    let snapshot = resume(&path, &run, ReplayFrom::Snapshot, tries)?;
    if start.state != snapshot.state {
        return Err(defect(format!(
            "the state of run {run} from its snapshot differs from the one from its start"
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
        let begun = Instant::now();
        let reader = Reader::open(path)?;
        let replayed = replay(&reader, run, from).map_err(|error| {
            defect(format!("run {run} of the measurement cannot be resumed")).caused_by(error.to_string())
        })?;
        times.take(begun.elapsed());
        last = Some(replayed);
    }
    let replayed = last.ok_or_else(|| defect(format!("run {run} was never resumed")))?;
    Ok(Resumed { times, state: replayed.state, events: replayed.seq })
}

/// A step that waits for its commit.
struct Made {
    event: Event,
    facts: Facts,
    blobs: Vec<Blob>,
    step: Step,
}

/// Writes a run with this many events to a new ledger, many per commit.
fn make(workload: &Workload, path: &Path, events: u32) -> Result<(), CommandFailure> {
    let tasks = u16::try_from(events / LONG_TASK + 1).unwrap_or(u16::MAX);
    let mut answers = Answers::objecting(tasks, LONG_OBJECTS);
    let program: &Program = &workload.program;
    let mut ledger = Ledger::open(path)?;
    let NewRun { run, start, facts, blobs, .. } = workload.beginning(RUN, Mode::Autonomous);
    let mut state = State::new(program);
    let mut open: VecDeque<Command> = VecDeque::new();
    let mut next = Some((Event::Started(start), facts, blobs));
    let mut batch: Vec<Made> = Vec::new();
    for seq in 1..=events {
        let Some((event, facts, blobs)) = next.take() else {
            return Err(defect(format!("run {run} of the measurement ended too early")));
        };
        let step = step(program, &mut state, &event).map_err(|refusal| {
            defect(format!("run {run} of the measurement is refused")).caused_by(refusal.to_string())
        })?;
        open.extend(step.commands.iter().cloned());
        batch.push(Made { event, facts, blobs, step });
        if seq % AT_ONCE == 0 {
            append(&mut ledger, &run, &mut batch)?;
        }
        next = answer(&mut answers, program, &mut open);
    }
    append(&mut ledger, &run, &mut batch)
}

fn answer(
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

fn append(ledger: &mut Ledger, run: &RunId, batch: &mut Vec<Made>) -> Result<(), CommandFailure> {
    let at = clock::now();
    let entries: Vec<JournalEntry<'_>> = batch
        .iter()
        .map(|Made { event, facts, blobs, step }| JournalEntry {
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
