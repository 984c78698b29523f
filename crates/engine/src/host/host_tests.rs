use super::claim::VERSION;
use super::*;
use crate::store::EmbeddedStore;
use crate::turn::{CommandEnding, CommandStart};
use remand_kernel::Outcome;
use remand_kernel::signal::Failure;
use remand_ledger::fact::RunOpening;
use std::path::Path;

/// Agents that work until they are stopped.
#[derive(Default)]
struct Tireless {
    running: BTreeMap<(RunId, CommandId), CommandReply>,
}

impl Effects for Tireless {
    fn start(&mut self, at: &RunAt<'_>, start: CommandStart, reply: CommandReply) {
        self.running.insert((at.run.clone(), start.id), reply);
    }

    fn stop(&mut self, run: &RunId, id: CommandId) {
        if let Some(reply) = self.running.remove(&(run.clone(), id)) {
            let (failure, detail) = (Failure::Cancelled, String::new());
            reply.send(CommandEnding::plain(Outcome::Failed { failure, detail, in_a_row: 0 }));
        }
    }

    fn kill_leftovers(&mut self, _: &RunId) {}

    fn restore(&mut self, _: &RunAt<'_>, _: CommandId) {}

    fn finish(&mut self, _: &RunAt<'_>) {}
}

/// Looks once, then stops the drive.
#[derive(Default)]
struct Glance {
    resumed: Vec<usize>,
}

impl DriveWatch for Glance {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        self.resumed.push(resumed.open.len());
    }

    fn committed(&mut self, _: &CommittedStep<'_>) {}

    fn should_stop(&self) -> bool {
        true
    }
}

fn host(folder: &Path) -> Host<Tireless> {
    let runs = folder.join("runs");
    let store = EmbeddedStore::at(folder.join("ledger.db"), runs.clone()).expect("a store");
    Host::new(Arc::new(store), Tireless::default(), runs).expect("a host")
}

/// A run that this version started and left.
fn left(folder: &Path, version: &str) -> RunId {
    let run = RunId("r1".to_string());
    let checked = remand_workflow::check_shipped("quick").expect("shipped");
    let program = checked.compiled.expect("compiled").program;
    let pinned = serde_json::to_vec(&serde_json::json!({ "program": program })).expect("JSON");
    let pinned = Blob::of(pinned);
    let opened = RunOpening {
        request: "Subtract".to_string(),
        file: None,
        slug: "subtract".to_string(),
        base: "0000000".to_string(),
        branch: "remand/r1".to_string(),
        pinned: pinned.id,
        version: version.to_string(),
        checkout: None,
    };
    let facts = Facts { opened: Some(opened), ..Facts::default() };
    let (program, start, blobs) = (Arc::new(program), Start::default(), vec![pinned]);
    let mut host = host(folder);
    host.begin(Beginning { run: run.clone(), program, start, facts, blobs }).expect("accepted");
    host.drive(&mut Glance::default()).expect("driven");
    run
}

/// The notes of a run that this version resumed.
fn notes(started_by: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let run = left(folder.path(), started_by);
    let (mut host, mut glance) = (host(folder.path()), Glance::default());
    host.resume(&run).expect("resumed");
    host.drive(&mut glance).expect("driven");
    assert_eq!(glance.resumed, [1], "one operation has started again");
    let notes = host.reader.notes(&run).expect("notes");
    notes.into_iter().map(|note| note.text).collect()
}

// CORE-18
#[test]
fn a_run_that_another_version_started_says_so_when_it_is_resumed() {
    let warning = format!("started by version 0.0.1, continued by version {VERSION}");
    assert_eq!(notes("0.0.1"), [warning]);
    assert_eq!(notes(VERSION), Vec::<String>::new());
}
