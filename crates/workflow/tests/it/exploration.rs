//! Drives the kernel through every path of the shipped workflows, and along random ones.

use crate::support::{feature, finding, injected_by, issue, quick, security_blocker, spec, ticket, tsp};
use proptest::prelude::*;
use remand_kernel::change::Digest;
use remand_kernel::command::{Command, QuestionKind};
use remand_kernel::event::{Event, Grants, Item, Mode, Outcome, Report, Start, Usage};
use remand_kernel::finding::Finding;
use remand_kernel::ids::{CommandId, Lane, PhaseId, SignalId};
use remand_kernel::program::{Action, Program, Work, is_detector};
use remand_kernel::signal::{Failure, NO_RESULT, SECURITY_BLOCKER, SPENT};
use remand_kernel::state::{SeatProgress, TaskProgress};
use remand_kernel::step::Receipt;
use remand_kernel::{Refusal, State, step};
use remand_workflow::explore::machine::{Counting, Machine, MachineNode};
use remand_workflow::explore::transitions::Liveness;
use remand_workflow::explore::{Scenario, bound};
use std::collections::{BTreeSet, HashMap};

/// A point of a run: its state and the open commands.
#[derive(Clone)]
struct Point {
    state: State,
    open: Vec<Command>,
}

impl Point {
    fn start(program: &Program, mode: Mode, tasks: u16) -> Point {
        let mut point = Point { state: State::new(program), open: Vec::new() };
        let lists = program.lists.iter().map(|name| (name.clone(), items(name, tasks))).collect();
        // Lists are known from the start, so the budgets sized by them are too.
        let flags = program.flags.iter().map(|flag| (flag.clone(), true)).collect();
        let start = Start { mode, lists, flags, ..Start::default() };
        point.take(program, &Event::Started(start)).expect("starts");
        point
    }

    fn take(&mut self, program: &Program, event: &Event) -> Result<Receipt, Refusal> {
        let taken = step(program, &mut self.state, event)?;
        if let Event::Ended { id, .. } | Event::Answered { id, .. } = event {
            self.open.retain(|command| command.id() != Some(*id));
        }
        for command in taken.commands {
            match command {
                Command::Cancel { id } => self.open.retain(|open| open.id() != Some(id)),
                Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => self.open.push(command),
                Command::Discard { .. } | Command::Restore { .. } => {}
                Command::Finish { .. } => self.open.clear(),
            }
        }
        Ok(taken.receipt)
    }

    /// The next command to end: tasks one after the other, because their order does not matter.
    fn next(&self) -> Option<&Command> {
        self.open.iter().min_by_key(|command| command.id().map(|id| (id.lane, id.seat)))
    }
}

fn items(list: &str, tasks: u16) -> Vec<Item> {
    let count = match list {
        "tasks" => tasks,
        "batches" => 3,
        "areas" => 4,
        _ => 1,
    };
    (1..=count).map(|at| Item { id: format!("{list}-{at}"), ..Item::default() }).collect()
}

/// Every event that can answer a command.
fn answers(program: &Program, state: &State, command: &Command) -> Vec<Event> {
    let Some(id) = command.id() else {
        return Vec::new();
    };
    match command {
        Command::Ask(question) if question.kind != QuestionKind::Phase => {
            vec![answer(id, "stop", Vec::new())]
        }
        Command::Ask(question) => question
            .options
            .iter()
            .flat_map(|option| {
                flags_set_by(program, id)
                    .into_iter()
                    .map(move |flags| answer(id, program.signal(*option), flags))
            })
            .collect(),
        Command::Operate { .. } if id.visit == 0 => vec![ended_event(id, Outcome::Said(Box::default()))],
        Command::Operate { .. } | Command::Dispatch(_) => outcomes(program, state, command, id)
            .into_iter()
            .map(|outcome| ended_event(id, outcome))
            .collect(),
        _ => Vec::new(),
    }
}

fn outcomes(program: &Program, state: &State, command: &Command, id: CommandId) -> Vec<Outcome> {
    let phase = program.phase(id.phase);
    let contract = match command {
        Command::Dispatch(dispatch) => Some(program.contract(dispatch.contract)),
        _ => None,
    };
    if matches!(command, Command::Dispatch(dispatch) if dispatch.advisory) {
        return contract
            .iter()
            .flat_map(|contract| contract.says.iter().take(1).copied())
            .map(Outcome::Supposed)
            .collect();
    }
    let mut all: Vec<Outcome> = Vec::new();
    let tallied = matches!(phase.work, Work::Each { .. });
    let said: Vec<SignalId> = match (&phase.work, contract) {
        (Work::Operation { operation }, _) => program.operation(*operation).results.clone(),
        (_, Some(contract)) => contract.says.clone(),
        _ => Vec::new(),
    };
    let extra = phase.routes.iter().map(|(signal, _)| *signal).filter(|signal| {
        *signal != SPENT
            && !said.contains(signal)
            && (!tallied
                || *signal == NO_RESULT
                || *signal == SECURITY_BLOCKER
                || is_detector(phase, *signal))
    });
    for signal in said.iter().copied().chain(extra) {
        if phase.route(signal).is_some_and(|route| route.action == Action::Ignore) {
            continue;
        }
        let rejecting = contract.is_some_and(|contract| {
            contract.findings
                && (signal == SECURITY_BLOCKER || contract.says.iter().skip(1).any(|said| *said == signal))
        });
        if rejecting && !program.injects.is_empty() {
            all.extend(injections(program, state, id, signal));
        } else if said.contains(&signal) && !phase.sets.is_empty() {
            for flags in flags_set_by(program, id) {
                let report = Report {
                    flags,
                    wrote: fresh_content(program, state, id),
                    ..Report::saying(program.signal(signal))
                };
                all.push(Outcome::Said(Box::new(report)));
            }
        } else {
            all.push(Outcome::Supposed(signal));
        }
    }
    all
}

/// Every way in which a phase can set its flags.
fn flags_set_by(program: &Program, id: CommandId) -> Vec<Vec<(String, bool)>> {
    let mut all = vec![Vec::new()];
    for flag in &program.phase(id.phase).sets {
        let name = &program.flags[flag.index()];
        all = all
            .into_iter()
            .flat_map(|set: Vec<(String, bool)>| {
                [false, true].map(|value| [set.clone(), vec![(name.clone(), value)]].concat())
            })
            .collect();
    }
    all
}

/// New content for every artifact that a phase writes.
fn fresh_content(program: &Program, state: &State, id: CommandId) -> Vec<(String, Digest)> {
    let digest = Digest(u64::from(state.changes) + 7);
    let writes = &program.phase(id.phase).writes;
    writes.iter().map(|artifact| (program.artifacts[artifact.index()].clone(), digest)).collect()
}

/// A rejecting verdict, once for each phase that its finding can name.
fn injections(program: &Program, state: &State, id: CommandId, signal: SignalId) -> Vec<Outcome> {
    let contract = program.phase(id.phase).contracts().first().map(|id| program.contract(*id)).expect("role");
    let phases = program.injects.iter().filter(|origin| **origin <= id.phase);
    phases
        .map(|origin| {
            let claim = format!("defect number {}", state.findings.len());
            let mut found: Finding = injected_by(&[&program.phase(*origin).name], finding("F", &claim));
            let mut says = signal;
            if signal == SECURITY_BLOCKER {
                found = security_blocker(found);
                says = contract.says[contract.says.len() - 1];
            }
            let wrote = fresh_content(program, state, id);
            Outcome::Said(Box::new(Report {
                findings: vec![found],
                wrote,
                ..Report::saying(program.signal(says))
            }))
        })
        .collect()
}

fn answer(id: CommandId, option: &str, flags: Vec<(String, bool)>) -> Event {
    let (by, note) = ("a human".to_string(), String::new());
    Event::Answered { id, option: option.to_string(), by, note, flags, grants: Grants::AskedFor }
}

fn ended_event(id: CommandId, outcome: Outcome) -> Event {
    Event::Ended { id, outcome, usage: Usage::default() }
}

/// The part of the state that decides how a run can continue, without its history.
fn key(program: &Program, point: &Point, liveness: Option<&(Liveness, Vec<u16>)>) -> Vec<u16> {
    let state = &point.state;
    let node = MachineNode {
        phase: state.main.phase,
        caller: state.main.caller,
        confidence: state.confidence,
        left: state.left.clone(),
    };
    let node = match liveness {
        Some((live, full)) => live.canonical(node, full),
        None => node,
    };
    let mut key = vec![node.phase.0, node.caller.map_or(0, |caller| caller.0 + 1), node.confidence as u16];
    key.extend(&node.left);
    key.extend(state.flags.iter().map(|flag| u16::from(*flag)));
    key.push(u16::from(state.hold.is_some()));
    key.push(match state.stage {
        remand_kernel::state::Stage::Fresh => 0,
        remand_kernel::state::Stage::Running => 1,
        remand_kernel::state::Stage::Ending { at, .. } => 2 + at,
        remand_kernel::state::Stage::Ended(_) => 99,
    });
    // The origin of a carried finding decides where `remand injector` leads.
    let carried = state.main.carried.iter().filter_map(|at| state.findings.get(*at as usize));
    key.extend(
        carried
            .flat_map(|filed| &filed.finding.injected_by)
            .filter_map(|name| program.phase_named(name))
            .map(|id| id.0),
    );
    key.push(u16::MAX);
    seats(&state.main.seats, &mut key);
    for run in &state.tasks {
        key.push(match run.progress {
            TaskProgress::Waiting => 0,
            TaskProgress::Running => 1,
            TaskProgress::Stands => 2,
            TaskProgress::Blocked => 3,
            TaskProgress::Exited(signal) => 10 + signal.0,
        });
        key.push(run.lane_state.phase.0);
        key.extend(run.left.iter().map(|(_, left)| *left));
        seats(&run.lane_state.seats, &mut key);
    }
    key
}

fn seats(seats: &[remand_kernel::state::Seat], key: &mut Vec<u16>) {
    for seat in seats {
        key.push(match &seat.progress {
            SeatProgress::Open => 0,
            SeatProgress::Held => 1,
            SeatProgress::Failed { .. } => 2,
            SeatProgress::Said(answer) => 10 + answer.signal.0,
        });
    }
}

/// The maximum number of dispatches on any path, and the number of points. Every path ends or waits for a human.
fn explore(
    program: &Program,
    mode: Mode,
    tasks: u16,
    liveness: Option<&(Liveness, Vec<u16>)>,
) -> (u64, usize) {
    let mut memo: HashMap<Vec<u16>, u64> = HashMap::new();
    let start = Point::start(program, mode, tasks);
    let first = start.state.used.dispatches;
    let max = first + max_from(program, start, &mut memo, liveness, 0);
    (max, memo.len())
}

fn max_from(
    program: &Program,
    mut point: Point,
    memo: &mut HashMap<Vec<u16>, u64>,
    liveness: Option<&(Liveness, Vec<u16>)>,
    depth: usize,
) -> u64 {
    assert!(depth < 20_000, "a path does not end");
    // The worst case: everything changed, so no result can be reused.
    point.state.results.iter_mut().for_each(|result| *result = None);
    point.state.finished.clear();
    point.state.task_inbox.clear();
    let Some(command) = point.next().cloned() else {
        assert!(point.state.end().is_some(), "the run neither ends nor waits: {:?}", point.state.main);
        return 0;
    };
    let key = key(program, &point, liveness);
    if let Some(known) = memo.get(&key) {
        return *known;
    }
    let mut max = 0;
    for event in answers(program, &point.state, &command) {
        let mut next = point.clone();
        let before = next.state.used.dispatches;
        next.take(program, &event).unwrap_or_else(|refusal| panic!("{refusal}: {event:?}"));
        // A route that holds leads back to the same question, so it need not be followed.
        if next.state.hold.is_some() {
            continue;
        }
        let spent = next.state.used.dispatches - before;
        max = max.max(spent + max_from(program, next, memo, liveness, depth + 1));
    }
    memo.insert(key, max);
    max
}

/// Runs on a stack that is large enough for deep paths.
fn deep<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 30).spawn(work).expect("thread").join().expect("explored")
}

fn assert_bound_is_exact(program: &'static Program, mode: Mode, tasks: u16) {
    let stated = bound(program, &[("tasks", tasks), ("gaps", 1), ("batches", 3)]).expect("bounded");
    let worst = match mode {
        Mode::Autonomous => stated.autonomous.dispatches,
        Mode::Interactive => stated.interactive.dispatches,
    };
    let (max, points) = deep(move || {
        let full = Machine::new(program, Scenario::new(program, mode, &[("gaps", 1)]), Counting::Exact)
            .starts(None, remand_kernel::program::Confidence::High)
            .pop()
            .map(|node| node.left)
            .unwrap_or_default();
        let liveness = (program.name == "issue").then(|| (Liveness::new(program), full));
        explore(program, mode, tasks, liveness.as_ref())
    });
    println!("{} {} {tasks}: {max} dispatches at most, {points} points", program.name, mode.name());
    assert_eq!(max, worst, "{} {} with {tasks} tasks", program.name, mode.name());
}

// EP-31 BY-03
#[test]
fn no_path_of_feature_exceeds_its_bound_and_one_reaches_it() {
    assert_bound_is_exact(feature(), Mode::Autonomous, 1);
    assert_bound_is_exact(feature(), Mode::Autonomous, 2);
    assert_bound_is_exact(feature(), Mode::Interactive, 1);
}

// BY-03
#[test]
fn no_path_of_quick_exceeds_its_bound_and_one_reaches_it() {
    assert_bound_is_exact(quick(), Mode::Autonomous, 1);
    assert_bound_is_exact(quick(), Mode::Interactive, 1);
}

// BY-03
#[test]
fn no_path_of_issue_exceeds_its_bound_and_one_reaches_it() {
    assert_bound_is_exact(issue(), Mode::Autonomous, 1);
    assert_bound_is_exact(issue(), Mode::Interactive, 3);
}

// BY-03
#[test]
fn no_path_of_ticket_exceeds_its_bound_and_one_reaches_it() {
    assert_bound_is_exact(ticket(), Mode::Autonomous, 1);
    assert_bound_is_exact(ticket(), Mode::Interactive, 1);
}

// BY-03
#[test]
fn no_path_of_spec_exceeds_its_bound_and_one_reaches_it() {
    assert_bound_is_exact(spec(), Mode::Autonomous, 1);
    assert_bound_is_exact(spec(), Mode::Interactive, 1);
}

// BY-03
#[test]
fn no_path_of_tsp_exceeds_its_bound_and_one_reaches_it() {
    assert_bound_is_exact(tsp(), Mode::Autonomous, 1);
}

/// A random path through a workflow: which open command ends, how, and whether the event is a duplicate.
fn random_walk() -> impl Strategy<Value = Vec<(u8, u8, bool)>> {
    proptest::collection::vec((any::<u8>(), any::<u8>(), any::<bool>()), 1..200)
}

fn all() -> [&'static Program; 6] {
    [feature(), quick(), issue(), ticket(), spec(), tsp()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    // EP-28 CORE-01 EP-25
    #[test]
    fn replay_equals_live_and_duplicates_are_harmless(
        which in 0..6_usize,
        interactive in any::<bool>(),
        tasks in 1..4_u16,
        choices in random_walk(),
    ) {
        let program = all()[which];
        let mode = if interactive { Mode::Interactive } else { Mode::Autonomous };
        let mut point = Point::start(program, mode, tasks);
        let lists = program.lists.iter().map(|name| (name.clone(), items(name, tasks))).collect();
        let flags = program.flags.iter().map(|flag| (flag.clone(), true)).collect();
        let mut journal = vec![Event::Started(Start { mode, lists, flags, ..Start::default() })];
        let max = bound(program, &[("tasks", tasks), ("gaps", 1), ("batches", 3)]).expect("bounded");
        let mut issued: BTreeSet<CommandId> = point.open.iter().filter_map(Command::id).collect();
        for (which, how, twice) in choices {
            if point.open.is_empty() {
                break;
            }
            let command = point.open[usize::from(which) % point.open.len()].clone();
            let mut possible = answers(program, &point.state, &command);
            if let (Some(id), Command::Dispatch(_)) = (command.id(), &command) {
                let failure = Failure::ALL[usize::from(how) % 2];
                possible.push(ended_event(id, Outcome::Failed { failure, detail: String::new(), in_a_row: 0 }));
            }
            let event = possible[usize::from(how) % possible.len()].clone();
            point.take(program, &event).expect("legal");
            journal.push(event.clone());
            for id in point.open.iter().filter_map(Command::id) {
                issued.insert(id);
            }
            if twice {
                let before = point.state.clone();
                let note = point.take(program, &event).expect("a duplicate is harmless");
                prop_assert_eq!(note, Receipt::Late);
                prop_assert_eq!(&before, &point.state);
            }
        }
// No command id is used twice.
        let mut replayed = State::new(program);
        let mut commands = Vec::new();
        for event in &journal {
            commands.extend(step(program, &mut replayed, event).expect("replays").commands);
        }
        let ids: Vec<CommandId> = commands.iter().filter_map(Command::id).collect();
        prop_assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len());
        prop_assert_eq!(&replayed, &point.state);
        let worst = if interactive { max.interactive } else { max.autonomous };
        prop_assert!(point.state.used.dispatches <= worst.with_retries);
    }

    // CORE-17
    #[test]
    fn nothing_starts_after_cancel(which in 0..6_usize, choices in random_walk()) {
        let program = all()[which];
        let mut point = Point::start(program, Mode::Autonomous, 3);
        for (which, how, _) in choices {
            if point.open.is_empty() {
                break;
            }
            let command = point.open[usize::from(which) % point.open.len()].clone();
            let possible = answers(program, &point.state, &command);
            point.take(program, &possible[usize::from(how) % possible.len()]).expect("legal");
        }
        let open: Vec<Command> = point.open.clone();
        let ended_before = point.state.stage != remand_kernel::state::Stage::Running;
        point.take(program, &Event::Cancelled { by: "a human".to_string() }).expect("cancels");
        let only_handlers =
            point.open.iter().all(|command| matches!(command, Command::Operate { id, .. } if id.visit == 0));
        prop_assert!(only_handlers);
        for command in open {
            for event in answers(program, &point.state, &command).into_iter().take(1) {
                let before = point.open.len();
                let handler = command.id().is_some_and(|id| id.visit == 0);
                point.take(program, &event).expect("a late event is harmless");
                prop_assert!(handler || point.open.len() == before);
            }
        }
        while let Some(command) = point.next().cloned() {
            let event = answers(program, &point.state, &command).remove(0);
            point.take(program, &event).expect("failure operations end");
        }
        let cancelled = matches!(point.state.end(), Some(remand_kernel::state::End::Cancelled { .. }));
        prop_assert!(ended_before || cancelled);
    }

    #[test]
    fn any_event_in_any_order_is_accepted_or_refused(
        which in 0..6_usize,
        events in proptest::collection::vec((0..40_u16, 0..4_u16, 0..4_u16, 0..3_u16, 0..12_u16, any::<bool>()), 1..60),
    ) {
        let program = all()[which];
        let mut state = State::new(program);
        let start = Event::Started(Start::default());
        let _ = step(program, &mut state, &start);
        for (phase, visit, seat, attempt, signal, answered) in events {
            let lane = if seat == 3 { Lane::Task { batch: visit, index: attempt } } else { Lane::Main };
            let phase = PhaseId(phase % u16::try_from(program.phases.len()).expect("few phases"));
            let id = CommandId { phase, lane, visit, seat: seat % 3, attempt };
            let event = if answered {
                answer(id, program.signal(SignalId(signal)), Vec::new())
            } else {
                ended_event(id, Outcome::Supposed(SignalId(signal)))
            };
            let before = state.clone();
            if step(program, &mut state, &event).is_err() {
                prop_assert_eq!(&before, &state);
            }
        }
    }
}
