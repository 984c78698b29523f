use super::*;
use remand_kernel::Outcome;
use remand_kernel::signal::Failure;
use remand_ledger::fact::Opened;
use std::path::Path;

/// Agents that work until they are stopped.
#[derive(Default)]
struct Tireless {
    at_work: BTreeMap<(RunId, CommandId), Reply>,
}

impl Effects for Tireless {
    fn perform(&mut self, order: &Order<'_>, reply: Reply) {
        let id = order.command.id().expect("an id");
        self.at_work.insert((order.run.clone(), id), reply);
    }

    fn cancel(&mut self, run: &RunId, id: CommandId) {
        if let Some(reply) = self.at_work.remove(&(run.clone(), id)) {
            let (failure, detail) = (Failure::Cancelled, String::new());
            reply.send(Ending::plain(Outcome::Failed { failure, detail, in_a_row: 0 }));
        }
    }

    fn take_over(&mut self, _: &RunId) {}

    fn clear_away(&mut self, _: &Order<'_>, _: CommandId) {}

    fn finish(&mut self, _: &Order<'_>) {}
}

/// Looks once and leaves.
#[derive(Default)]
struct Glance {
    taken_up: Vec<usize>,
}

impl Watch for Glance {
    fn taken_up(&mut self, taken: &TakenUp<'_>) {
        self.taken_up.push(taken.open.len());
    }

    fn published(&mut self, _: &News<'_>) {}

    fn told_to_stop(&self) -> bool {
        true
    }
}

fn host(folder: &Path) -> Host<Tireless> {
    let ledger = Ledger::open(&folder.join("ledger.db")).expect("a ledger");
    Host::new(ledger, Tireless::default(), folder.join("runs")).expect("a host")
}

/// A run that was begun by this version and left at once.
fn left(folder: &Path, version: &str) -> RunId {
    let run = RunId("r1".to_string());
    let checked = remand_workflow::check_shipped("quick").expect("shipped");
    let program = checked.compiled.expect("compiled").program;
    let pinned = serde_json::to_vec(&serde_json::json!({ "program": program })).expect("JSON");
    let pinned = Blob::of(pinned);
    let opened = Opened {
        request: "Subtract".to_string(),
        file: None,
        slug: "subtract".to_string(),
        base: "0000000".to_string(),
        branch: "remand/r1".to_string(),
        pinned: pinned.id,
        version: version.to_string(),
    };
    let facts = Facts { opened: Some(opened), ..Facts::default() };
    let (program, start, blobs) = (Arc::new(program), Start::default(), vec![pinned]);
    let mut host = host(folder);
    host.begin(Beginning { run: run.clone(), program, start, facts, blobs }).expect("begun");
    host.drive(&mut Glance::default()).expect("driven");
    run
}

/// What is noted of a run that this version goes on with.
fn noted(begun_by: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let run = left(folder.path(), begun_by);
    let (mut host, mut glance) = (host(folder.path()), Glance::default());
    host.resume(&run).expect("resumed");
    host.drive(&mut glance).expect("driven");
    assert_eq!(glance.taken_up, [1], "one operation is under way again");
    let notes = host.reader.notes(&run).expect("notes");
    notes.into_iter().map(|note| note.text).collect()
}

// CORE-18
#[test]
fn a_run_that_another_version_goes_on_with_says_so() {
    let told = format!("begun by version 0.0.1, and gone on with by version {VERSION}");
    assert_eq!(noted("0.0.1"), [told]);
    assert_eq!(noted(VERSION), Vec::<String>::new());
}
