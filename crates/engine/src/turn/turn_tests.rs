//! Turns of the shipped workflow `quick`, as a pure function: no clock, no store, no process.

use super::*;
use remand_kernel::change::Digest;
use remand_kernel::event::{Grants, Limits, Start, Usage};
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::{Command, Event, Outcome, Report};
use remand_ledger::fact::{Artifact, Note, NoteKind, Telemetry};
use remand_ledger::{BlobId, Facts, Millis, RunId};
use std::sync::Arc;
use std::time::Duration;

fn run() -> RunId {
    RunId("r1".to_string())
}

/// The time when the driving process has been running for this number of seconds.
fn after(seconds: u64) -> Now {
    Now { at: Millis(1_000), uptime: Duration::from_secs(seconds), leaving: false }
}

fn when_leaving(seconds: u64) -> Now {
    Now { leaving: true, ..after(seconds) }
}

/// Starts a run of `quick`, which is then at its first operation.
fn start_run_with(start: Start) -> (LoadedRun, CommandId) {
    let checked = remand_workflow::check_shipped("quick").expect("shipped");
    let mut loaded = LoadedRun::new(Arc::new(checked.compiled.expect("compiled").program));
    let message = Message::new(run(), Sender::Driver, Event::Started(start));
    let (_, orders) = expect_accepted(turn(&mut loaded, message, &after(0)));
    let [EffectOrder::Start(start)] = orders.as_slice() else { panic!("{orders:?}") };
    (loaded, start.id)
}

fn start_run() -> (LoadedRun, CommandId) {
    start_run_with(Start::default())
}

/// Starts a run of `quick` and continues it until the dispatch of its implementer.
fn run_at_implementer() -> (LoadedRun, CommandId) {
    let (mut loaded, setup) = start_run();
    let baseline = started_command(end_with(&mut loaded, setup, Report::saying("ready"), 0));
    let mut report = Report::saying("recorded");
    report.wrote.push(("baseline".to_string(), Digest(7)));
    let implement = started_command(end_with(&mut loaded, baseline, report, 0));
    (loaded, implement)
}

fn expect_accepted(
    result: Result<TurnResult, remand_kernel::step::Refusal>,
) -> (EntryDraft, Vec<EffectOrder>) {
    match result {
        Ok(TurnResult::Accepted { entry, orders }) => (*entry, orders),
        other => panic!("{other:?}"),
    }
}

fn end_with(
    loaded: &mut LoadedRun,
    id: CommandId,
    report: Report,
    seconds: u64,
) -> (EntryDraft, Vec<EffectOrder>) {
    let ending = CommandEnding::plain(Outcome::Said(Box::new(report)));
    expect_accepted(turn(loaded, Message::from_ending(run(), id, ending), &after(seconds)))
}

fn failure_message(id: CommandId, failure: Failure, detail: &str) -> Message {
    let outcome = Outcome::Failed { failure, detail: detail.to_string(), in_a_row: 0 };
    Message::from_ending(run(), id, CommandEnding::plain(outcome))
}

fn started_command((_, orders): (EntryDraft, Vec<EffectOrder>)) -> CommandId {
    only_start(&orders).id
}

fn only_start(orders: &[EffectOrder]) -> &CommandStart {
    let [EffectOrder::Start(start)] = orders else { panic!("{orders:?}") };
    start
}

fn with_agent(message: Message) -> Message {
    let telemetry = Telemetry { driver: "codex".to_string(), ..Telemetry::default() };
    Message { facts: Facts { telemetry: Some(telemetry), ..message.facts }, ..message }
}

fn outcome(entry: &EntryDraft) -> &Outcome {
    let Event::Ended { outcome, .. } = &entry.event else { panic!("{:?}", entry.event) };
    outcome
}

#[test]
fn the_first_event_of_a_run_starts_its_first_command() {
    let (loaded, setup) = start_run();
    assert_eq!(loaded.running().collect::<Vec<_>>(), [setup]);
    assert_eq!(setup.attempt, 1);
}

// CORE-07
#[test]
fn an_ending_charges_wall_time_and_starts_the_next_command() {
    let (mut loaded, setup) = start_run();
    let (entry, orders) = end_with(&mut loaded, setup, Report::saying("ready"), 3);
    let Event::Ended { usage, .. } = entry.event else { panic!("{:?}", entry.event) };
    assert_eq!(usage.wall, Some(3_000));
    assert_eq!((entry.at, entry.request), (Millis(1_000), None));
    let start = only_start(&orders);
    assert_eq!((start.issuance, start.number, start.wait), (Issuance::First, 1, Duration::ZERO));
    assert!(matches!(start.command, Command::Operate { .. }));
}

#[test]
fn a_result_with_a_degradation_note_is_degraded() {
    let (mut loaded, setup) = start_run();
    let mut message = Message::from_ending(
        run(),
        setup,
        CommandEnding::plain(Outcome::Said(Box::new(Report::saying("ready")))),
    );
    let kind = NoteKind::Degradation;
    message.facts.notes.push(Note::new(kind, "no sandbox".to_string()));
    let (entry, _) = expect_accepted(turn(&mut loaded, message, &after(1)));
    assert!(matches!(outcome(&entry), Outcome::Said(report) if report.degraded));
}

#[test]
fn a_report_of_a_part_carries_the_digest_of_the_whole_artifact() {
    let (mut loaded, setup) = start_run();
    let baseline = started_command(end_with(&mut loaded, setup, Report::saying("ready"), 0));
    let mut report = Report::saying("recorded");
    report.wrote.push(("baseline".to_string(), Digest(7)));
    let mut message =
        Message::from_ending(run(), baseline, CommandEnding::plain(Outcome::Said(Box::new(report))));
    message.facts.artifacts.push(Artifact {
        name: "baseline".to_string(),
        part: "unit".to_string(),
        digest: Digest(7),
        blob: BlobId::of(b""),
        by: "baseline".to_string(),
        format: "yaml".to_string(),
    });
    assert!(!loaded.lacks_parts(&message), "a new run has none yet");
    assert!(
        LoadedRun::with_state(Arc::clone(&loaded.program), loaded.state.clone(), Vec::new())
            .lacks_parts(&message)
    );
    let (entry, _) = expect_accepted(turn(&mut loaded, message, &after(1)));
    let Outcome::Said(report) = outcome(&entry) else { panic!("{entry:?}") };
    assert_ne!(report.wrote[0].1, Digest(7));
}

#[test]
fn a_result_that_the_kernel_refuses_is_malformed_and_the_agent_is_asked_again() {
    let (mut loaded, implement) = run_at_implementer();
    let (entry, orders) = end_with(&mut loaded, implement, Report::saying("nonsense"), 1);
    assert!(matches!(outcome(&entry), Outcome::Failed { failure: Failure::Malformed, .. }), "{entry:?}");
    let start = only_start(&orders);
    assert_eq!((start.id.attempt, start.wait), (2, Duration::ZERO), "nothing to wait for");
}

#[test]
fn an_operation_is_not_retried_if_the_kernel_refuses_its_result() {
    let (mut loaded, setup) = start_run();
    let (entry, _) = end_with(&mut loaded, setup, Report::saying("nonsense"), 1);
    assert!(matches!(outcome(&entry), Outcome::Failed { failure: Failure::Denied, .. }), "{entry:?}");
}

// CORE-10
#[test]
fn a_failure_of_the_environment_is_retried_after_a_wait_and_counted_over_all_runs() {
    let (mut loaded, implement) = run_at_implementer();
    let message = with_agent(failure_message(implement, Failure::Environment, "503, retry after 9 seconds"));
    assert_eq!(message.failed_agent(), Some(("codex", implement)));
    let message = Message { failures_before: Some(1), ..message };
    let (entry, orders) = expect_accepted(turn(&mut loaded, message, &after(1)));
    assert!(matches!(outcome(&entry), Outcome::Failed { in_a_row: 2, .. }), "{entry:?}");
    let start = only_start(&orders);
    assert_eq!((start.id.attempt, start.wait), (2, Duration::from_secs(9)));
}

// CORE-10
#[test]
fn after_three_failures_a_human_is_asked_and_a_retry_waits() {
    let (mut loaded, implement) = run_at_implementer();
    let message = with_agent(failure_message(implement, Failure::Environment, "no network"));
    let (_, orders) =
        expect_accepted(turn(&mut loaded, Message { failures_before: Some(2), ..message }, &after(1)));
    let [EffectOrder::PrepareQuestion { id }] = orders.as_slice() else { panic!("{orders:?}") };
    let event = Event::Answered {
        id: *id,
        option: "go-on".to_string(),
        by: "ann".to_string(),
        note: String::new(),
        flags: Vec::new(),
        grants: Grants::AskedFor,
    };
    let message = Message::new(run(), Sender::Request(4), event);
    let (entry, orders) = expect_accepted(turn(&mut loaded, message, &after(100)));
    assert_eq!(entry.request, Some(4));
    let start = only_start(&orders);
    assert_eq!((start.id.attempt, start.wait), (2, Duration::from_secs(1)));
}

#[test]
fn a_wait_ends_with_the_time_limit_of_the_run() {
    let limits = Limits { time: Some(5_000), ..Limits::default() };
    let (mut loaded, setup) = start_run_with(Start { limits, ..Start::default() });
    let (_, orders) = expect_accepted(turn(
        &mut loaded,
        failure_message(setup, Failure::Environment, "disk full"),
        &after(1),
    ));
    assert_eq!(only_start(&orders).wait, Duration::from_secs(1));
    let second = only_start(&orders).id;
    let (_, orders) = expect_accepted(turn(
        &mut loaded,
        failure_message(second, Failure::Environment, "disk full"),
        &after(4),
    ));
    assert_eq!(
        only_start(&orders).wait,
        Duration::from_secs(1),
        "the wait would be 2 seconds, and 1 is left"
    );
}

#[test]
fn a_late_ending_is_recorded_and_nothing_follows() {
    let (mut loaded, setup) = start_run();
    end_with(&mut loaded, setup, Report::saying("ready"), 1);
    let (entry, orders) = end_with(&mut loaded, setup, Report::saying("ready"), 2);
    assert!(entry.step.rulings.is_empty() && orders.is_empty(), "{orders:?}");
}

// CORE-14
#[test]
fn an_illegal_or_late_request_is_refused() {
    let (mut loaded, setup) = start_run();
    let before = loaded.state.clone();
    let again = Message::new(run(), Sender::Request(1), Event::Started(Start::default()));
    let refused = turn(&mut loaded, again, &after(1));
    assert!(matches!(refused, Ok(TurnResult::Refused { request: 1, .. })), "{refused:?}");
    assert_eq!(loaded.state, before);

    end_with(&mut loaded, setup, Report::saying("ready"), 1);
    let late = Event::Interrupted { id: setup, began: false, usage: Usage::default() };
    let late = turn(&mut loaded, Message::new(run(), Sender::Request(2), late), &after(2));
    let Ok(TurnResult::Refused { request: 2, reason }) = late else { panic!("{late:?}") };
    assert_eq!(reason, "it came too late: the run has moved on");
}

#[test]
fn a_refused_message_of_the_driver_is_an_error() {
    let (mut loaded, _) = start_run();
    let again = Message::new(run(), Sender::Driver, Event::Started(Start::default()));
    assert!(turn(&mut loaded, again, &after(1)).is_err());
}

#[test]
fn a_cancel_stops_running_commands_and_restores_the_trees_of_commands_of_other_processes() {
    let (mut loaded, implement) = run_at_implementer();
    let mut resumed = LoadedRun::with_state(Arc::clone(&loaded.program), loaded.state.clone(), Vec::new());
    let cancel = || Message::new(run(), Sender::Driver, Event::Cancelled { by: "ann".to_string() });
    let (_, orders) = expect_accepted(turn(&mut loaded, cancel(), &after(1)));
    assert!(orders.contains(&EffectOrder::Stop { id: implement }), "{orders:?}");
    let (_, orders) = expect_accepted(turn(&mut resumed, cancel(), &after(1)));
    assert!(orders.contains(&EffectOrder::Restore { id: implement }), "{orders:?}");
}

#[test]
fn the_end_of_a_run_gives_only_the_order_to_finish() {
    let (mut loaded, setup) = start_run();
    let (_, orders) = end_with(&mut loaded, setup, Report::saying("refused"), 1);
    assert_eq!(orders, [EffectOrder::Finish]);
    assert!(loaded.end().is_some() && loaded.is_idle());
}

#[test]
fn a_command_killed_by_its_leaving_driver_is_interrupted_and_nothing_is_started() {
    let (mut loaded, implement) = run_at_implementer();
    let killed = with_agent(failure_message(implement, Failure::Cancelled, "cancelled"));
    let (entry, orders) = expect_accepted(turn(&mut loaded, killed, &when_leaving(2)));
    let Event::Interrupted { id, began: true, usage } = entry.event else { panic!("{:?}", entry.event) };
    assert_eq!((id, usage.wall, orders.len()), (implement, Some(2_000), 0));

    let (mut loaded, setup) = start_run();
    let ended = Message::from_ending(
        run(),
        setup,
        CommandEnding::plain(Outcome::Said(Box::new(Report::saying("ready")))),
    );
    let (entry, orders) = expect_accepted(turn(&mut loaded, ended, &when_leaving(1)));
    assert_eq!((entry.step.commands.len(), orders.len()), (1, 0), "the next process starts it");
    assert!(loaded.is_idle());
}

// CORE-11
#[test]
fn an_agent_that_died_with_its_driver_is_charged_until_its_last_sign_of_life() {
    let (loaded, implement) = run_at_implementer();
    let start = |at| AgentStart { command: implement, number: 1, at: Millis(at) };
    let agents = [(start(1_000), Millis(9_000)), (start(2_000), Millis(7_000))];
    let lost = lost_agents(&run(), &agents, Millis(4_000));
    let usages: Vec<(u64, Option<u64>)> = lost
        .iter()
        .map(|message| match &message.event {
            Event::Interrupted { began: true, usage, .. } => (usage.time, usage.wall),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(usages, [(8_000, Some(5_000)), (5_000, Some(0))], "each moment of the run is charged once");
    let mut resumed = LoadedRun::with_state(Arc::clone(&loaded.program), loaded.state.clone(), Vec::new());
    for message in lost {
        let (_, orders) = expect_accepted(turn(&mut resumed, message, &after(1)));
        assert!(orders.is_empty());
    }
    assert_eq!(resumed.state.used.dispatches, loaded.state.used.dispatches + 2);
}

#[test]
fn an_open_command_starts_again_with_its_number_and_its_wait() {
    let (mut loaded, implement) = run_at_implementer();
    let (_, orders) = expect_accepted(turn(
        &mut loaded,
        failure_message(implement, Failure::Environment, "down"),
        &after(1),
    ));
    let command = only_start(&orders).command.clone();
    let mut resumed = LoadedRun::with_state(Arc::clone(&loaded.program), loaded.state.clone(), Vec::new());
    let failed = Some("down".to_string());
    let again = Redelivery { command, interruptions: 2, environment_failure: failed };
    let orders = redeliver(&mut resumed, vec![again], &after(0));
    let start = only_start(&orders);
    assert_eq!((start.issuance, start.number, start.wait.as_secs()), (Issuance::Again, 3, 1));
    assert_eq!(resumed.running().collect::<Vec<_>>(), [start.id]);
}

#[test]
fn notes_are_recorded_once_with_the_next_entry() {
    let (mut loaded, setup) = start_run();
    loaded.add_note(version_warning("0.0.1", "0.1.0").expect("another version"));
    assert_eq!(version_warning("0.1.0", "0.1.0"), None);
    let (entry, orders) = end_with(&mut loaded, setup, Report::saying("ready"), 1);
    assert_eq!(entry.facts.notes.len(), 1);
    let mut report = Report::saying("recorded");
    report.wrote.push(("baseline".to_string(), Digest(7)));
    let (entry, _) = end_with(&mut loaded, only_start(&orders).id, report, 1);
    assert!(entry.facts.notes.is_empty());
    loaded.add_note(version_warning("0.0.1", "0.1.0").expect("another version"));
    assert_eq!(loaded.into_notes().len(), 1);
}

#[test]
fn orders_and_steps_survive_serialization() {
    let (mut loaded, setup) = start_run();
    let (entry, orders) = end_with(&mut loaded, setup, Report::saying("ready"), 1);
    let text = serde_json::to_string(&(&orders, &entry.step)).expect("JSON");
    let back: (Vec<EffectOrder>, remand_kernel::step::Step) = serde_json::from_str(&text).expect("JSON");
    assert_eq!(back, (orders, entry.step));
}
