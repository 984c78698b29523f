//! Simulated runs of shipped workflows, for scenarios.

use remand_kernel::Program;
use remand_kernel::change::Approach;
use remand_kernel::event::{Item, Mode, Start};
use remand_kernel::finding::{Category, Finding, Location, Severity};
use remand_workflow::walk::{Says, WalkStep, Walker};
use std::sync::LazyLock;

macro_rules! shipped {
    ($($name:ident),*) => {$(
/// The compiled workflow.
        pub fn $name() -> &'static Program {
            static PROGRAM: LazyLock<Program> = LazyLock::new(|| program(stringify!($name)));
            &PROGRAM
        }
    )*};
}

shipped!(feature, quick, issue, ticket, spec, tsp);

fn program(name: &str) -> Program {
    let checked = remand_workflow::check_shipped(name).expect("shipped");
    assert!(checked.accepted(), "{name} is refused: {:#?}", checked.diagnostics);
    checked.compiled.expect("compiled").program
}

/// A run that is fed step by step.
pub struct Run {
    pub walker: Walker<'static>,
}

/// How a run begins.
pub struct Setup {
    program: &'static Program,
    start: Start,
    tasks: Vec<Item>,
    gaps: u16,
}

impl Setup {
    pub fn of(program: &'static Program) -> Setup {
        Setup { program, start: Start::default(), tasks: vec![task("t1", &[])], gaps: 3 }
    }

    pub fn interactive(mut self) -> Setup {
        self.start.mode = Mode::Interactive;
        self
    }

    pub fn tasks(mut self, tasks: Vec<Item>) -> Setup {
        self.tasks = tasks;
        self
    }

    pub fn gaps(mut self, gaps: u16) -> Setup {
        self.gaps = gaps;
        self
    }

    pub fn start(mut self, change: impl FnOnce(&mut Start)) -> Setup {
        change(&mut self.start);
        self
    }

    pub fn run(self) -> Run {
        let gaps = (1..=self.gaps).map(|at| task(&format!("GAP-FLOW-{at:03}"), &[])).collect();
        let lists = vec![
            ("tasks".to_string(), self.tasks),
            ("gaps".to_string(), gaps),
            ("batches".to_string(), vec![task("batch-1", &[])]),
        ];
        Run { walker: Walker::start(self.program, self.start, lists).expect("starts") }
    }
}

/// A task with an id and its dependencies; its file is `src/ID.rs`.
pub fn task(id: &str, needs: &[&str]) -> Item {
    Item {
        id: id.to_string(),
        needs: needs.iter().map(|need| (*need).to_string()).collect(),
        files: vec![format!("src/{id}.rs")],
        ..Item::default()
    }
}

impl Run {
    /// A phase ends with a signal; `t1/implement` names a task.
    pub fn says(&mut self, phase: &str, signal: &str) -> &mut Run {
        self.happens(happening(phase, signal))
    }

    /// Each member of a phase ends with its verdict.
    pub fn say(&mut self, phase: &str, verdicts: &[&str]) -> &mut Run {
        let says = Says::Members(verdicts.iter().map(|verdict| (*verdict).to_string()).collect());
        self.happens(WalkStep { says, ..happening(phase, "") })
    }

    pub fn finds(&mut self, phase: &str, signal: &str, findings: Vec<Finding>) -> &mut Run {
        self.happens(WalkStep { findings, ..happening(phase, signal) })
    }

    pub fn happens(&mut self, happening: WalkStep) -> &mut Run {
        let at = format!("{happening:?}");
        if let Err(error) = self.walker.happen(&happening) {
            panic!("{error}\nat {at}\nafter\n{}", self.trace());
        }
        self
    }

    /// Everything succeeds until the run waits for this phase.
    pub fn until(&mut self, phase: &str) -> &mut Run {
        if let Err(error) = self.walker.until(phase) {
            panic!("{error}\nafter\n{}", self.trace());
        }
        self
    }

    /// Everything succeeds until the run is over.
    pub fn finish(&mut self) -> &mut Run {
        if let Err(error) = self.walker.finish() {
            panic!("{error}\nafter\n{}", self.trace());
        }
        self
    }

    /// How the run ended, or `waiting for …`.
    pub fn status(&self) -> String {
        self.walker.status()
    }

    /// The last ruling, in one line.
    pub fn last(&self) -> String {
        let rulings = self.walker.records.iter().flat_map(|taken| &taken.rulings);
        rulings.last().map_or_else(String::new, |ruling| ruling.line())
    }

    /// The reason of the last ruling.
    pub fn why(&self) -> String {
        let rulings = self.walker.records.iter().flat_map(|taken| &taken.rulings);
        rulings.last().map_or_else(String::new, |ruling| ruling.why.clone())
    }

    /// All rulings, one per line.
    pub fn rulings(&self) -> String {
        let lines: Vec<String> = self
            .walker
            .records
            .iter()
            .flat_map(|taken| taken.rulings.iter().map(|ruling| ruling.line()))
            .collect();
        lines.join("\n")
    }

    /// The commands that the last event led to, one per line.
    pub fn commands(&self) -> String {
        self.walker.records.last().map_or_else(String::new, |taken| taken.commands.join("\n"))
    }

    /// Events with rulings and commands.
    pub fn trace(&self) -> String {
        let mut trace = String::new();
        for taken in &self.walker.records {
            trace.push_str(&format!("{}\n", taken.happened));
            for ruling in &taken.rulings {
                trace.push_str(&format!("  ⇒ {}\n", ruling.line()));
            }
            for command in &taken.commands {
                trace.push_str(&format!("  ! {command}\n"));
            }
        }
        trace
    }

    /// The remainder of a budget.
    pub fn left(&self, budget: &str) -> u16 {
        let id = self.walker.program.budget_named(budget).expect("budget");
        self.walker.state.left[id.index()]
    }

    pub fn confidence(&self) -> &'static str {
        self.walker.state.confidence.name()
    }

    pub fn dispatches(&self) -> u64 {
        self.walker.state.used.dispatches
    }
}

/// A step at a phase; `t1/implement` names a task.
pub fn happening(phase: &str, signal: &str) -> WalkStep {
    match phase.split_once('/') {
        Some((task, phase)) => WalkStep { task: Some(task.to_string()), ..WalkStep::new(phase, signal) },
        None => WalkStep::new(phase, signal),
    }
}

/// A finding of major severity about correctness.
pub fn finding(id: &str, claim: &str) -> Finding {
    Finding {
        id: id.to_string(),
        severity: Severity::Major,
        category: Category::Correctness,
        kind: None,
        injected_by: Vec::new(),
        task: None,
        place: Location { file: "src/lib.rs".to_string(), symbol: "run".to_string(), line: 1 },
        claim: claim.to_string(),
        evidence: String::new(),
        impact: String::new(),
        recommendation: String::new(),
        patch: None,
        repeats: None,
    }
}

pub fn minor(finding: Finding) -> Finding {
    Finding { severity: Severity::Minor, ..finding }
}

pub fn security_blocker(finding: Finding) -> Finding {
    Finding { severity: Severity::Blocker, category: Category::Security, ..finding }
}

pub fn injected_by(phases: &[&str], finding: Finding) -> Finding {
    Finding { injected_by: phases.iter().map(|phase| (*phase).to_string()).collect(), ..finding }
}

pub fn approach(text: &str) -> Approach {
    Approach { text: text.to_string(), decisions: Vec::new() }
}
