//! Gates are asked at the terminal of a run, and requests of other processes are still handled.

use crate::agents;
use crate::place::Place;
use crate::rehearsed::{REQUEST, Script, TRIVIAL, role};
use crate::three_tasks::{self, await_some};
use remand_ledger::query::{CheckFilter, RunStage};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A run with a pseudo-terminal.
pub struct TerminalRun {
    driver: Child,
    keys: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl TerminalRun {
    /// Starts a run with a rehearsal.
    pub fn run(place: &Place, script: &Script, more: &[&str]) -> TerminalRun {
        let file = place.write_outside("rehearsal.yaml", &script.text());
        let agent = format!("rehearsal:{file}");
        let mut arguments = vec!["run", REQUEST, "--agent", agent.as_str()];
        arguments.extend(more);
        TerminalRun::at(place.command(&arguments))
    }

    /// Starts a command at a terminal with cursor movement and colours.
    fn live(place: &Place, arguments: &[&str]) -> TerminalRun {
        let mut command = place.command(arguments);
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        TerminalRun::at(command)
    }

    fn at(command: Command) -> TerminalRun {
        TerminalRun::at_width(command, 0)
    }

    /// Starts a command at a terminal with so many columns; zero is a terminal that does not know its width.
    fn at_width(mut command: Command, columns: u16) -> TerminalRun {
        let keys =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&keys).and_then(|()| unlockpt(&keys)).expect("a terminal that can be opened");
        let name = ptsname(&keys, Vec::new()).expect("its name").into_string().expect("UTF-8");
        let line = OpenOptions::new().read(true).write(true).open(name).expect("the terminal");
        let end = || line.try_clone().expect("a second end");
        if columns > 0 {
            let sized =
                Command::new("stty").args(["rows", "50", "cols", &columns.to_string()]).stdin(end()).status();
            assert!(sized.expect("stty").success());
        }
        let driver = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the binary starts");

        let keys = File::from(keys);
        let (screen, mut shown) = (Arc::new(Mutex::new(Vec::new())), keys.try_clone().expect("the screen"));
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // When the program has ended, reading fails, because the other side is closed.
            while let Ok(read @ 1..) = shown.read(&mut bytes) {
                seen.lock().expect("the screen").extend_from_slice(&bytes[..read]);
            }
        });
        TerminalRun { driver, keys, screen }
    }

    pub fn screen(&self) -> String {
        // A read can end inside a character, so only the whole is text.
        String::from_utf8_lossy(&self.screen.lock().expect("the screen")).into_owned()
    }

    pub fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.screen().contains(text) {
            assert!(Instant::now() < deadline, "never: {text}\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn types(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).expect("typed");
    }

    pub fn code(&mut self) -> i32 {
        self.driver.wait().expect("an end").code().unwrap_or(-1)
    }
}

const DIRECTION: &str = "proceed/expand/abort [proceed]> ";

// EP-12
#[test]
fn a_gate_shows_its_options_and_takes_an_answer_with_a_note() {
    let place = Place::configured(TRIVIAL);
    let mut run_on_tty =
        TerminalRun::run(&place, &Script::subtraction(), &["--workflow", "feature", "--interactive"]);
    run_on_tty.wait_for(DIRECTION);
    assert!(run_on_tty.screen().contains("Is this the right direction?"), "{}", run_on_tty.screen());

    run_on_tty.types("maybe\n");
    run_on_tty.wait_for("answer with one of proceed, expand, abort");
    run_on_tty.types("abort --grant 2h\n");
    run_on_tty.wait_for("abort --grant 2h` in another terminal");
    run_on_tty.types("abort not this year\n");

    assert_eq!(run_on_tty.code(), 4, "{}", run_on_tty.screen());
    let run = place.latest();
    let gates = place.reader().gates(&run.run).expect("gates");
    let answered: Vec<_> = gates.iter().map(|gate| (gate.option.as_deref(), gate.note.as_deref())).collect();
    assert_eq!(answered, [(Some("abort"), Some("not this year"))]);
}

// CORE-17
#[test]
fn a_cancel_from_another_process_ends_a_run_that_asks_at_a_terminal() {
    let place = Place::configured(TRIVIAL);
    let mut run_on_tty =
        TerminalRun::run(&place, &Script::subtraction(), &["--workflow", "feature", "--interactive"]);
    run_on_tty.wait_for(DIRECTION);

    let shown = place.remand(&["cancel", "latest"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(run_on_tty.code(), 4, "{}", run_on_tty.screen());
    assert_eq!(place.latest().stage, RunStage::Stopped);
    let reported = format!("run {}: ada cancelled it, from another process", place.latest().run);
    run_on_tty.wait_for(&reported);
}

// EP-12 CORE-17
#[test]
fn after_an_answer_from_another_process_the_next_gate_is_asked() {
    let place = Place::configured(TRIVIAL);
    let mut run_on_tty =
        TerminalRun::run(&place, &Script::subtraction(), &["--workflow", "feature", "--interactive"]);
    run_on_tty.wait_for(DIRECTION);

    let shown = place.remand(&["answer", "latest", "proceed"]);

    assert_eq!((shown.code, shown.out.as_str()), (0, "accepted\n"), "{}", shown.err);
    run_on_tty.wait_for("ada answered proceed, from another process");
    run_on_tty.wait_for("approve/revise/abort [approve]> ");
    run_on_tty.types("abort\n");
    assert_eq!(run_on_tty.code(), 4, "{}", run_on_tty.screen());
    assert_eq!(place.latest().stage, RunStage::Stopped);
}

// EP-12
#[test]
fn an_autonomous_run_asks_at_a_terminal_too_and_the_end_of_input_leaves_it_waiting() {
    let place = Place::configured(TRIVIAL);
    let flags = ["--workflow", "quick", "--autonomous", "--budget-dispatches", "1"];
    let mut run_on_tty = TerminalRun::run(&place, &Script::quick(), &flags);
    run_on_tty.wait_for("go-on/stop");

    run_on_tty.types("\u{4}");

    assert_eq!(run_on_tty.code(), 5, "{}", run_on_tty.screen());
    run_on_tty.wait_for("no answer; the gate stays open");
    assert_eq!(place.latest().stage, RunStage::Waiting);
}

/// What a command shows at a terminal of this width with colours, line by line, without the colours.
fn lines_at(place: &Place, columns: u16, folder: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = place.command(arguments);
    command.env_remove("NO_COLOR").env_remove("COLUMNS").env("TERM", "xterm").current_dir(folder);
    let mut shown = TerminalRun::at_width(command, columns);
    shown.code();
    // The reader may be behind the program, which ends its output with this line.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !shown.screen().ends_with('\n') && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let screen = shown.screen();
    let codes = regex::Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").expect("a pattern");
    codes.replace_all(&screen, "").lines().map(|line| line.trim_end().to_string()).collect()
}

// UP-09
#[test]
fn at_any_width_no_line_is_wider_than_the_terminal_and_no_table_is_raw_markdown() {
    let place = Place::new();
    for columns in [80, 140] {
        let folder = place.user_home().join(columns.to_string());
        let name = folder.display().to_string();
        let demo = lines_at(&place, columns, &place.project(), &["demo", "quick", "--into", &name]);
        let project = folder.join("notes");
        let mut shown = vec![("demo", demo)];
        for command in ["status", "runs", "log", "findings", "costs", "doctor"] {
            shown.push((command, lines_at(&place, columns, &project, &[command])));
        }
        for (command, lines) in shown {
            assert!(lines.iter().any(|line| !line.is_empty()), "{command} shows nothing");
            for line in &lines {
                // A path that is longer than the line is broken by the terminal.
                let width = remand_terminal::line::width(line);
                assert!(width <= usize::from(columns) || line.contains(&name), "{command}: {line}");
                assert!(!line.starts_with('|') && !line.starts_with("# "), "{command}: {line}");
            }
        }
    }
}

// UP-06
#[test]
fn without_proof_an_interactive_run_asks_before_anybody_is_paid() {
    let place = Place::configured("[checks]\ndetect = false\n");
    let flags = ["--workflow", "quick", "--interactive"];
    for (answer, code, runs) in [("\n", 1, 0), ("n\n", 1, 0), ("y\n", 6, 1)] {
        let mut run_on_tty = TerminalRun::run(&place, &Script::quick(), &flags);
        run_on_tty.wait_for("Continue without proof? [y/N]");
        let screen = run_on_tty.screen();
        assert!(
            screen.contains("nothing can prove the work") && screen.contains("[checks.test]"),
            "{screen}"
        );
        assert_eq!(count_runs(&place), 0, "the question comes first");

        run_on_tty.types(answer);

        assert_eq!(run_on_tty.code(), code, "{answer:?}: {}", run_on_tty.screen());
        assert_eq!(count_runs(&place), runs, "{answer:?}");
    }
    assert_eq!(place.latest().confidence.as_str(), "low");
}

fn count_runs(place: &Place) -> usize {
    let shown = place.remand(&["runs", "--json"]);
    let runs: Value = serde_json::from_str(&shown.out).expect("pure JSON");
    runs["runs"].as_array().expect("a list").len()
}

/// Escapes that would rename the window, clear the screen and hide earlier text.
const HOSTILE: &str = r"\033]0;owned\007\033[2J\302\2332Jbad\rGOOD";

/// A check with hostile output, and an implementer that leaves a file with a hostile name outside its permissions.
fn hostile() -> (Place, Script) {
    let place = Place::configured(&format!(
        "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n[checks.loud]\n\
         command = '''printf '{HOSTILE}\\n'; test -f sums/sub.py'''\n"
    ));
    let leaves = format!("mkdir -p TODO && touch \"$(printf 'TODO/a{HOSTILE}b')\"");
    (place, Script::quick().with(role("implementer").runs(&leaves)))
}

fn is_control_character(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

// CORE-05
#[test]
fn output_of_agents_and_checks_cannot_control_a_terminal() {
    let (place, script) = hostile();
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    assert!(shown.err.contains("loud failed: bad") && shown.err.contains("TODO/abad"), "{}", shown.err);
    let reported =
        [place.remand(&["status", "latest"]).out, place.remand(&["log"]).out, shown.out, shown.err];
    for text in reported {
        assert!(!text.contains(is_control_character), "{text:?}");
    }
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("checks");
    let loud: Vec<&str> =
        rows.iter().map(|row| row.snippet.as_str()).filter(|text| !text.is_empty()).collect();
    assert!(!loud.is_empty() && loud.iter().all(|text| *text == "bad\nGOOD"), "{loud:?}");
}

// CORE-05
#[test]
fn the_live_view_passes_no_command_of_an_agent_on_to_the_terminal() {
    let (place, script) = hostile();
    let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
    let mut run_on_tty =
        TerminalRun::live(&place, &["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
    assert_eq!(run_on_tty.code(), 4, "{}", run_on_tty.screen());
    run_on_tty.wait_for("details");
    let screen = run_on_tty.screen();
    assert!(screen.contains("TODO/abad"), "{screen}");
    let hostile_sequences = ["]0;", "\u{1b}[2J", "\u{9b}", "bad\rGOOD"];
    assert!(!hostile_sequences.iter().any(|part| screen.contains(part)), "{screen:?}");
}

// BY-11
#[test]
fn a_resume_immediately_shows_the_restarted_agents() {
    let place = three_tasks::place();
    let (go, rehearsal) = agents::waiting(&place);
    let begin = three_tasks::arguments(&place, &rehearsal);
    let mut first = place.start(&begin.iter().map(String::as_str).collect::<Vec<_>>());
    await_some("the agent", || (agents::started(&place).len() == 1).then_some(()));
    let stop = |driver: &mut Child| {
        driver.kill().expect("killed");
        driver.wait().expect("an end");
    };
    stop(&mut first);

    let mut run_on_tty = TerminalRun::live(&place, &["resume"]);
    run_on_tty.wait_for("dispatch implementer");
    run_on_tty.wait_for(" dispatches");
    stop(&mut run_on_tty.driver);

    agents::release(&go);
    let shown = place.remand(&["resume", "--json"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let lines: Vec<Value> = shown.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let again = lines[0]["again"].to_string();
    assert!(again.contains("dispatch implementer"), "{}", shown.out);
}

// BY-11
#[test]
fn plain_output_of_a_resume_starts_with_the_restarted_agents() {
    let place = Place::configured(TRIVIAL);
    let agent = format!("rehearsal:{}", place.write_outside("quick.yaml", &Script::quick().text()));
    let mut killed = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
    let killed_output = killed.env("REMAND_DIE_AT", "11").output().expect("the binary runs");
    assert_eq!(killed_output.status.code(), None, "{killed_output:?}");
    let shown = place.remand(&["resume"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let again = shown.err.find("→ again: d").expect("a restarted agent");
    assert!(again < shown.err.find('⇒').expect("a ruling"), "{}", shown.err);
    assert!(shown.err.contains(" so far"), "{}", shown.err);
}

// BY-12
#[test]
fn the_terminal_of_a_run_shows_a_waiting_gate_if_the_user_wants_that() {
    let place = Place::configured(TRIVIAL);
    place.add_user_settings("[notify]\nterminal = \"osc9\"\n");
    let mut run =
        TerminalRun::run(&place, &Script::quick(), &["--workflow", "quick", "--budget-dispatches", "1"]);
    run.wait_for("go-on/stop>");
    let screen = run.screen();
    assert_eq!(screen.matches("\u{1b}]9;quick waits for you at ").count(), 1, "{screen:?}");
    run.types("stop\r");
    run.wait_for("\u{1b}]9;quick is over: stopped\u{7}");
    assert_eq!(run.code(), 4);
}
