//! Damaged workflow files: the checker never panics, and every file that it accepts keeps its bound.
//!
//! `FUZZ_COUNT=100000 cargo test -p remand-workflow --release fuzz` tries many more.

use remand_kernel::command::{Command, QuestionKind};
use remand_kernel::event::{Event, Grants, Item, Mode, Outcome, Start, Usage};
use remand_kernel::program::{Program, Work};
use remand_kernel::{State, step};
use remand_workflow::explore::bound;
use remand_workflow::roles::Roles;
use remand_workflow::{check_bytes, shipped};
use std::time::{Duration, Instant};

/// A small random number generator; a failing seed is printed and can be tried again.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count.max(1)).expect("small")).expect("small")
    }
}

const WORDS: &[&str] = &[
    "next", "to", "remand", "spending", "round", "else", "then", "fail", "done", "stop", "hold", "return",
    "raise", "with", "blockers", "per", "run", "subject", "true", "no", "on", "0", "1", "2", "65535",
    "99999", "{", "}", "[", "]", ":", ",", "&a", "*a", "!!str", "|", ">", "---", "…", "\u{0}", "'", "\"",
    "#", "\t", "plan", "commit", "each", "tasks", "injector",
];

/// A shipped workflow with some damage.
fn damage(dice: &mut Dice) -> Vec<u8> {
    let (_, text) = shipped::WORKFLOWS[dice.below(shipped::WORKFLOWS.len())];
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(lines.len());
        match dice.below(7) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[dice.below(lines.len())].clone()),
            2 => {
                let other = dice.below(lines.len());
                lines.swap(at, other);
            }
            3 => lines[at] = format!("  {}", lines[at]),
            4 | 5 => lines[at] = with_word(&lines[at], dice),
            _ => {
                let digits: String = lines[at]
                    .chars()
                    .map(|letter| {
                        if letter.is_ascii_digit() {
                            char::from(b'0' + u8::try_from(dice.below(10)).expect("digit"))
                        } else {
                            letter
                        }
                    })
                    .collect();
                lines[at] = digits;
            }
        }
    }
    let mut bytes = lines.join("\n").into_bytes();
    if dice.below(5) == 0 {
        let at = dice.below(bytes.len());
        bytes[at] = u8::try_from(dice.below(256)).expect("byte");
    }
    bytes
}

fn with_word(line: &str, dice: &mut Dice) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    let at = dice.below(words.len());
    words[at] = WORDS[dice.below(WORDS.len())];
    words.join(" ")
}

/// Drives an accepted program along a random path: it must keep its bound, and must accept every event.
fn drive(program: &Program, dice: &mut Dice) {
    let tasks = u16::try_from(1 + dice.below(4)).expect("few");
    let Ok(bound) = bound(program, &[("tasks", tasks), ("gaps", 1), ("batches", 3)]) else {
        panic!("accepted, but not bounded");
    };
    let items = |list: &String| {
        let count = if list == "tasks" { tasks } else { 1 };
        (1..=count).map(|at| Item { id: format!("{list}{at}"), ..Item::default() }).collect()
    };
    let lists = program.lists.iter().map(|list| (list.clone(), items(list))).collect();
    let start = Start { mode: Mode::Interactive, lists, ..Start::default() };
    let mut state = State::new(program);
    let mut open: Vec<Command> = Vec::new();
    let mut event = Event::Started(start);
    for _ in 0..2000 {
        let taken =
            step(program, &mut state, &event).unwrap_or_else(|refusal| panic!("{refusal}: {event:?}"));
        for command in taken.commands {
            match command {
                Command::Cancel { id } => open.retain(|kept| kept.id() != Some(id)),
                Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => open.push(command),
                Command::Discard { .. } | Command::Restore { .. } => {}
                Command::Finish { .. } => open.clear(),
            }
        }
        if open.is_empty() {
            assert!(state.end().is_some(), "neither open nor over");
            break;
        }
        let command = open.remove(dice.below(open.len()));
        event = answer(program, &command, dice);
    }
    assert!(
        state.used.dispatches <= bound.interactive.with_retries,
        "{} dispatches, bound {:?}",
        state.used.dispatches,
        bound
    );
}

fn answer(program: &Program, command: &Command, dice: &mut Dice) -> Event {
    let id = command.id().expect("answerable");
    let answered = |option: &str| Event::Answered {
        id,
        option: option.to_string(),
        by: "a human".to_string(),
        note: String::new(),
        flags: Vec::new(),
        grants: Grants::AskedFor,
    };
    let said = match command {
        Command::Ask(question) if question.kind != QuestionKind::Phase => return answered("stop"),
        Command::Ask(question) => {
            let options = &question.options;
            assert!(!options.is_empty(), "a question without a way out");
            return answered(program.signal(options[dice.below(options.len())]));
        }
        Command::Operate { operation, .. } if id.visit > 0 => program.operation(*operation).results.clone(),
        Command::Dispatch(dispatch) => program.contract(dispatch.contract).says.clone(),
        _ => Vec::new(),
    };
    let outcome = if said.is_empty() {
        Outcome::Said(Box::default())
    } else {
        let routed = program.phase(id.phase).routes.iter().map(|(signal, _)| *signal);
        let extra = routed.filter(|signal| *signal != remand_kernel::signal::SPENT);
        let tallied = matches!(program.phase(id.phase).work, Work::Each { .. });
        let all: Vec<_> = if tallied { said } else { said.into_iter().chain(extra).collect() };
        Outcome::Supposed(all[dice.below(all.len())])
    };
    Event::Ended { id, outcome, usage: Usage::default() }
}

#[test]
fn damaged_files_never_panic_and_accepted_ones_keep_their_bound() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, seed) = (number("FUZZ_COUNT").unwrap_or(200), number("FUZZ_SEED").unwrap_or(1));
    let roles = Roles::shipped();
    let (mut accepted, mut slowest) = (0_u64, Duration::ZERO);
    for this in seed..seed + count {
        let mut dice = Dice(this);
        let bytes = damage(&mut dice);
        let began = Instant::now();
        let outcome = std::panic::catch_unwind(|| {
            let checked = check_bytes("damaged.yaml", &bytes, &roles);
            for problem in &checked.diagnostics {
                let text = problem.render(&checked.source, remand_workflow::diagnostic::Style::Plain);
                assert!(text.contains(" --> damaged.yaml:"), "{text}");
            }
            checked.accepted().then(|| checked.compiled.expect("compiled").program)
        });
        slowest = slowest.max(began.elapsed());
        let program = outcome.unwrap_or_else(|_| {
            panic!("seed {this} panics on\n{}", String::from_utf8_lossy(&bytes));
        });
        if let Some(program) = program {
            accepted += 1;
            for _ in 0..3 {
                drive(&program, &mut dice);
            }
        }
    }
    println!("{count} damaged files, {accepted} accepted and driven, the slowest took {slowest:?}");
    assert!(accepted > 0);
}
