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
struct EndlessAgents {
    running: BTreeMap<(RunId, CommandId), CommandReply>,
}

impl Effects for EndlessAgents {
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

/// Records resumed runs, and stops the drive immediately.
#[derive(Default)]
struct StoppingWatch {
    resumed: Vec<usize>,
}

impl DriveWatch for StoppingWatch {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        self.resumed.push(resumed.open.len());
    }

    fn committed(&mut self, _: &CommittedStep<'_>) {}

    fn should_stop(&self) -> bool {
        true
    }
}

fn host(folder: &Path) -> Host<EndlessAgents> {
    let runs = folder.join("runs");
    let store = EmbeddedStore::open_at(folder.join("ledger.db"), runs.clone()).expect("a store");
    Host::new(Arc::new(store), EndlessAgents::default(), runs).expect("a host")
}

/// Starts a run as if by `version`, and leaves it.
fn start_and_leave(folder: &Path, version: &str) -> RunId {
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
        by: None,
        checkout: None,
    };
    let facts = Facts { opened: Some(opened), ..Facts::default() };
    let (program, start, blobs) = (Arc::new(program), Start::default(), vec![pinned]);
    let mut host = host(folder);
    host.begin(NewRun { run: run.clone(), program, start, facts, blobs }).expect("accepted");
    host.drive(&mut StoppingWatch::default()).expect("driven");
    run
}

/// The notes of a run that `started_by` started and this version resumed.
fn notes_after_resume(started_by: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let run = start_and_leave(folder.path(), started_by);
    let (mut host, mut watch) = (host(folder.path()), StoppingWatch::default());
    host.resume(&run).expect("resumed");
    host.drive(&mut watch).expect("driven");
    assert_eq!(watch.resumed, [1], "one operation has started again");
    let notes = host.reader.notes(&run).expect("notes");
    notes.into_iter().map(|note| note.text).collect()
}

// CORE-18
#[test]
fn a_resumed_run_warns_if_another_version_started_it() {
    let warning = format!("started by version 0.0.1, continued by version {VERSION}");
    assert_eq!(notes_after_resume("0.0.1"), [warning]);
    assert_eq!(notes_after_resume(VERSION), Vec::<String>::new());
}
