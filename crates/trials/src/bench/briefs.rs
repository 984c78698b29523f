//! Measures how much the agents of the demonstrations are given, compared with the last build in which briefs did not
//! follow the kernel's law.

use super::child::run_this_program;
use super::folder::BenchFolder;
use super::report::{BenchReport, Build, Figure, Goal, Unit};
use crate::demo;
use remand_engine::dispatch::BriefSection;
use remand_kernel::Event;
use remand_kernel::ids::{CommandId, Lane};
use remand_ledger::{LedgerError, Reader};
use remand_terminal::CommandFailure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the agents of a demonstration were given before, in bytes.
struct Before {
    demo: &'static str,
    /// Prompts and files of first passes.
    first: u64,
    /// Evidence, over all dispatches that got any.
    evidence: u64,
    with_evidence: u64,
    /// All passes by part: instructions, findings, material and evidence.
    parts: [u64; 4],
}

/// Measured on the last build that gave evidence as rows.
const BEFORE: [Before; 6] = [
    Before {
        demo: "quick",
        first: 21_136,
        evidence: 7_889,
        with_evidence: 2,
        parts: [39_703, 1_333, 2_637, 8_455],
    },
    Before {
        demo: "feature",
        first: 278_977,
        evidence: 95_308,
        with_evidence: 13,
        parts: [238_491, 3_018, 67_054, 95_932],
    },
    Before {
        demo: "issue",
        first: 119_558,
        evidence: 37_983,
        with_evidence: 6,
        parts: [138_051, 1_795, 29_358, 37_962],
    },
    Before {
        demo: "ticket",
        first: 175_774,
        evidence: 29_439,
        with_evidence: 7,
        parts: [149_335, 8_725, 61_539, 29_420],
    },
    Before { demo: "spec", first: 55_874, evidence: 0, with_evidence: 0, parts: [95_090, 0, 25_120, 0] },
    Before {
        demo: "tsp",
        first: 91_005,
        evidence: 10_555,
        with_evidence: 5,
        parts: [124_172, 1_590, 41_417, 11_116],
    },
];

/// What the agents of one demonstration are given now.
#[derive(Default)]
struct Now {
    first: u64,
    evidence: u64,
    with_evidence: u64,
    sections: BTreeMap<String, u64>,
}

pub fn measure(state: &Path, progress: impl Fn(&str)) -> Result<BenchReport, CommandFailure> {
    let bench = BenchFolder::create(state)?;
    let mut figures = Vec::new();
    for before in BEFORE.iter().filter(|before| demo::names().contains(&before.demo)) {
        progress(&format!("the demonstration `{}`", before.demo));
        let folder = bench.path().join(before.demo);
        let arguments = ["demo".into(), before.demo.into(), "--into".into(), folder.clone().into()];
        run_this_program(bench.path(), &arguments)?;
        figures.extend(compare(before, &read(&folder)?));
    }
    Ok(BenchReport {
        folder: bench.path().display().to_string(),
        file_system: bench.file_system(),
        build: Build::this(),
        size: "all demonstrations".to_string(),
        figures,
    })
}

/// Adds up the briefs of all runs below the state folder of a demonstration.
fn read(folder: &Path) -> Result<Now, CommandFailure> {
    let mut now = Now::default();
    for ledger in ledgers(&folder.join("state")) {
        let reader = Reader::open(&ledger)?;
        for run in reader.runs()? {
            add(&reader, &run.run, &mut now)?;
        }
    }
    Ok(now)
}

fn ledgers(state: &Path) -> Vec<PathBuf> {
    let homes = std::fs::read_dir(state).into_iter().flatten().flatten();
    homes.map(|home| home.path().join("ledger.db")).filter(|ledger| ledger.is_file()).collect()
}

fn add(reader: &Reader, run: &remand_ledger::RunId, now: &mut Now) -> Result<(), LedgerError> {
    reader.each_event(run, 0, |row| {
        let (Event::Ended { id, .. }, Some(telemetry)) = (&row.event, &row.facts.telemetry) else { return };
        let evidence = telemetry.brief.get(BriefSection::Evidence.title()).copied().unwrap_or(0);
        now.evidence += evidence;
        now.with_evidence += u64::from(evidence > 0);
        if is_first_pass(*id) {
            now.first += telemetry.brief.values().sum::<u64>();
        }
        for (section, bytes) in &telemetry.brief {
            *now.sections.entry(section.clone()).or_default() += bytes;
        }
    })
}

fn is_first_pass(id: CommandId) -> bool {
    let is_first_batch = match id.lane {
        Lane::Main => true,
        Lane::Task { batch, .. } => batch <= 1,
    };
    id.visit == 1 && id.attempt == 1 && is_first_batch
}

fn compare(before: &Before, now: &Now) -> Vec<Figure> {
    let ratio = |now: u64, before: u64| now as f64 / before.max(1) as f64;
    let sections: Vec<String> =
        now.sections.iter().map(|(section, bytes)| format!("{} {bytes}", section.to_lowercase())).collect();
    let [instructions, findings, material, evidence] = before.parts;
    let mut figures = vec![Figure {
        what: format!("briefs of first passes in `{}`", before.demo),
        value: ratio(now.first, before.first),
        unit: Unit::Times,
        goal: Goal::AtMost(1.0),
        note: format!(
            "{} bytes, {} before; all passes by section: {}; before: instructions {instructions}, findings {findings}, \
             material {material}, evidence {evidence}",
            now.first,
            before.first,
            sections.join(", ")
        ),
    }];
    if before.with_evidence > 0 {
        let average = |bytes: u64, count: u64| bytes / count.max(1);
        let (old, new) =
            (average(before.evidence, before.with_evidence), average(now.evidence, now.with_evidence));
        figures.push(Figure {
            what: format!("evidence in a brief of `{}`", before.demo),
            value: ratio(new, old),
            unit: Unit::Times,
            goal: Goal::AtMost(0.2),
            note: format!("{new} bytes on average, {old} before"),
        });
    }
    figures
}
