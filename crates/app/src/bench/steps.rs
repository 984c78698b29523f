//! Durable steps of one run against raw commits, and of a hundred runs at once.

use super::place::Place;
use super::report::{Figure, Goal, Unit};
use super::sample::{Sample, ratio};
use super::scale::Scale;
use super::track::{StepTimes, Timing, Track};
use super::workload::Workload;
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_kernel::Command;
use remand_ledger::measure::BareCommits;
use remand_ledger::{Reader, RunId};
use remand_runtime::host::{News, Watch};
use std::time::{Duration, Instant};

/// Runs that are driven one after another.
const RUNS: u32 = 60;

/// How often a hundred runs are driven at once, and how many they are.
const ROUNDS: u32 = 5;
const AT_ONCE: u32 = 100;

/// Runs that are driven one after another before each of them.
const SINGLE: u32 = 4;

/// Thirty times what a graph engine does that syncs every step; one run alone is to do five times as much.
const GAIN: f64 = 6.0;

/// A raw commit follows every step, so that noise hits both.
pub fn measure(place: &Place, scale: Scale, workload: &Workload) -> Result<Vec<Figure>, Failure> {
    let folder = place.part("steps")?;
    let mut track = Track::open(workload, &folder)?;
    let bare = BareCommits::open(&folder.join("bare.db")).map_err(|error| of_ledger(&error))?;
    let warm = track.one(&mut StepTimes::new())?;
    let body = vec![b'x'; size_of(&track, &warm)?];

    let mut turns = Turns::new(&bare, &body);
    for _ in 0..scale.of(RUNS) {
        track.one(&mut turns)?;
    }
    let (steps, commits) = turns.taken()?;
    let (step, raw) = (steps.median(), commits.median());
    let one = Figure {
        what: "durable step against a raw commit".to_string(),
        value: ratio(step, raw),
        unit: Unit::Times,
        goal: Goal::AtMost(1.3),
        note: format!(
            "{} steps of `feature`, each followed by a raw commit of a row of {} bytes; medians {step:.0?} and {raw:.0?}, \
             on average {:.0?}, tables that follow included, and {:.0?}",
            steps.len(),
            body.len(),
            steps.mean(),
            commits.mean(),
        ),
    };

    Ok(vec![one, together(&mut track, scale)?])
}

/// Many runs in one commit after another, against one run at a time.
fn together(track: &mut Track<'_>, scale: Scale) -> Result<Figure, Failure> {
    let at_once = scale.of(10 * AT_ONCE).min(AT_ONCE);
    let (mut many, mut single) = (StepTimes::new(), StepTimes::new());
    for _ in 0..scale.of(ROUNDS) {
        for _ in 0..SINGLE {
            track.one(&mut single)?;
        }
        track.many(at_once, &mut many)?;
    }
    let per_second = |steps: &StepTimes| steps.times.len() as f64 / steps.times.total().as_secs_f64();
    let (many, single) = (per_second(&many), per_second(&single));
    Ok(Figure {
        what: format!("steps of {at_once} runs at once against one run"),
        value: many / single,
        unit: Unit::Times,
        goal: Goal::AtLeast(GAIN),
        note: format!("{many:.0} steps/s, {single:.0} of one run"),
    })
}

/// Steps and raw commits in turns.
struct Turns<'b> {
    bare: &'b BareCommits,
    body: &'b [u8],
    steps: Sample,
    commits: Sample,
    last: Instant,
    failed: Option<Failure>,
}

impl<'b> Turns<'b> {
    fn new(bare: &'b BareCommits, body: &'b [u8]) -> Turns<'b> {
        let (steps, commits) = (Sample::default(), Sample::default());
        Turns { bare, body, steps, commits, last: Instant::now(), failed: None }
    }

    fn taken(self) -> Result<(Sample, Sample), Failure> {
        match self.failed {
            None => Ok((self.steps, self.commits)),
            Some(failure) => Err(failure),
        }
    }
}

impl Timing for Turns<'_> {
    fn begin(&mut self) {
        self.last = Instant::now();
    }
}

impl Watch for Turns<'_> {
    fn published(&mut self, _: &News<'_>) {
        self.steps.take(self.last.elapsed());
        match commit(self.bare, self.body) {
            Ok(took) => self.commits.take(took),
            Err(failure) => self.failed = Some(failure),
        }
        self.last = Instant::now();
    }
}

fn commit(bare: &BareCommits, body: &[u8]) -> Result<Duration, Failure> {
    let begun = Instant::now();
    bare.commit(body).map_err(|error| of_ledger(&error))?;
    Ok(begun.elapsed())
}

/// How many bytes a step of this run puts into the journal on average, its blobs among them.
fn size_of(track: &Track<'_>, run: &RunId) -> Result<usize, Failure> {
    let reader = Reader::open(&track.path()).map_err(|error| of_ledger(&error))?;
    let (mut bytes, mut count) = (0, 0);
    let mut blobs = Vec::new();
    let text = |value: serde_json::Result<String>| value.map_or(0, |text| text.len());
    let seen = reader.each_event(run, 0, |row| {
        let commands: &[Command] = &row.commands;
        bytes += text(serde_json::to_string(&row.event)) + text(serde_json::to_string(&row.facts));
        bytes += text(serde_json::to_string(&row.rulings)) + text(serde_json::to_string(commands));
        blobs.extend(row.facts.artifacts.iter().map(|artifact| artifact.blob));
        count += 1;
    });
    seen.map_err(|error| of_ledger(&error))?;
    for blob in blobs {
        bytes += reader.blob(blob).map_err(|error| of_ledger(&error))?.len();
    }
    Ok(bytes / count.max(1))
}
