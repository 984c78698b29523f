//! Tests of tier 3: loading changed modules, smoke commands, and the reason if neither could run.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::run_tests::{Project, after_rows, baseline_rows};
use super::*;
use remand_kernel::evidence::{EvidenceRow, GateDemand, GateResult, TaskSize, Tier, rule};
use remand_source::is_test_file;

fn loaded(project: &Project, files: &[&str]) -> Vec<CheckResult> {
    let files: Vec<String> = files.iter().map(|file| file.to_string()).collect();
    tier_3_results(project.run(&loading(&files, &[], is_test_file)), None)
}

fn ends(results: &[CheckResult]) -> Vec<(&str, CheckEnd, Option<i32>)> {
    results.iter().map(|result| (result.name.as_str(), result.end, result.exit_code)).collect()
}

// EP-15 EP-16
#[test]
fn changed_python_modules_are_loaded_and_a_missing_package_is_not_a_defect() {
    let project = Project::new(&[
        ("src/shop/__init__.py", ""),
        ("src/shop/cart.py", "from shop import prices\n"),
        ("src/shop/prices.py", "TOTAL = 1\n"),
        ("broken.py", "raise ValueError('at import')\n"),
        ("lost.py", "import shop.gone\n"),
        ("needing.py", "import no_such_package_anywhere\n"),
        ("tests/test_cart.py", "raise SystemExit(3)\n"),
    ]);
    let good =
        loaded(&project, &["src/shop/__init__.py", "src/shop/cart.py", "tests/test_cart.py", "needing.py"]);
    assert_eq!(ends(&good), [("load-python", CheckEnd::Passed, Some(0))], "{good:#?}");
    assert_eq!(good[0].tier, Some(Tier::Three));
    assert!(good[0].snippet.contains("needing is skipped: there is no package no_such_package_anywhere"));
    for (file, message) in [("broken.py", "at import"), ("lost.py", "shop.gone")] {
        let bad = loaded(&project, &[file]);
        assert_eq!(ends(&bad), [("load-python", CheckEnd::Failed, Some(1))], "{bad:#?}");
        assert!(String::from_utf8_lossy(&bad[0].output).contains(message), "{}", bad[0].snippet);
    }
    let none = loaded(&project, &["needing.py"]);
    assert_eq!(ends(&none), [("tier3-infeasible", CheckEnd::Skipped, None)]);
    assert!(none[0].reason.contains("no_such_package_anywhere"), "{}", none[0].reason);
}

// EP-15
#[test]
fn changed_javascript_modules_are_loaded() {
    let project = Project::new(&[
        ("package.json", "{\"type\": \"module\"}"),
        ("good.js", "export const a = 1;\n"),
        ("bad.js", "import { b } from './good.js';\nexport const c = b;\n"),
        ("needing.js", "import 'no-such-package';\n"),
        ("vite.config.js", "throw new Error('a tool loads this');\n"),
    ]);
    assert!(
        job::is_on_path(&project.environment, "node"),
        "`node` is missing: `tools/toolchains` installs it"
    );
    assert_eq!(
        ends(&loaded(&project, &["good.js", "needing.js", "vite.config.js"])),
        [("load-node", CheckEnd::Passed, Some(0))]
    );
    assert_eq!(ends(&loaded(&project, &["bad.js"])), [("load-node", CheckEnd::Failed, Some(1))]);
    assert_eq!(ends(&loaded(&project, &["needing.js"])), [("tier3-infeasible", CheckEnd::Skipped, None)]);
}

// EP-15
#[test]
fn a_module_that_exits_or_hangs_while_loading_is_a_defect_unless_it_did_so_before() {
    let project = Project::new(&[
        ("ends.py", "import os\nos._exit(42)\n"),
        ("ends.cjs", "process.exit(42);\n"),
        ("hangs.py", "import time\ntime.sleep(60)\n"),
    ]);
    assert_eq!(ends(&loaded(&project, &["ends.py"])), [("load-python", CheckEnd::Failed, Some(42))]);
    assert_eq!(ends(&loaded(&project, &["ends.cjs"])), [("load-node", CheckEnd::Failed, Some(42))]);
    let mut specs = loading(&["hangs.py".to_string()], &[], is_test_file);
    specs[0].time = std::time::Duration::from_secs(1);
    let hung = project.run(&specs);
    assert!(hangs(&hung[0]), "{hung:#?}");
    assert_eq!(ends(&tier_3_results(hung.clone(), None)), [("load-python", CheckEnd::TimedOut, None)]);
    let before = tier_3_results(hung.into_iter().map(skipped_as_server).collect(), None);
    assert_eq!(ends(&before), [("tier3-infeasible", CheckEnd::Skipped, None)]);
    assert!(before[0].reason.contains("as it does before the change"), "{}", before[0].reason);
}

// EP-15 EP-18
#[test]
fn smoke_commands_are_rows_of_tier_3_and_an_infeasible_row_excuses_their_absence() {
    let project = Project::new(&[("a.txt", "text\n")]);
    let lines = ["test -f a.txt".to_string(), "echo here".to_string()];
    let good = tier_3_results(project.run(&[smoke("t1", &lines)]), None);
    assert_eq!(ends(&good), [("smoke:t1", CheckEnd::Passed, Some(0))]);
    assert_eq!(good[0].command.as_deref(), Some("set -e\ntest -f a.txt\necho here"));
    let bad =
        tier_3_results(project.run(&[smoke("t1", &["false".to_string(), "echo here".to_string()])]), None);
    assert_eq!(ends(&bad), [("smoke:t1", CheckEnd::Failed, Some(1))]);
    let none = tier_3_results(Vec::new(), Some("the verifier says: it needs a device"));
    assert_eq!(none[0].reason, "no test ran; the verifier says: it needs a device");

    let spec = |name: &str, tier| CheckSpec::new(name, tier, CheckAction::Shell("true".to_string()));
    let base = project.run(&[spec("first", Tier::One), spec("second", Tier::One)]);
    let gate = |more: &[CheckResult]| {
        let before = baseline_rows(&base);
        let after = after_rows(&[base.as_slice(), more].concat());
        rule(
            &before.into_iter().chain(after).collect::<Vec<EvidenceRow>>(),
            TaskSize::Standard,
            GateDemand::Proof,
        )
    };
    assert!(matches!(gate(&[]), GateResult::Failed(_)) && matches!(gate(&bad), GateResult::Failed(_)));
    assert_eq!((gate(&good), gate(&none)), (GateResult::Passed, GateResult::Passed));
}

// EP-15
#[test]
fn a_build_is_not_a_runtime_signal_and_a_test_that_ran_is_one() {
    let project = Project::new(&[]);
    let run = |name: &str, text: &str, parser| {
        let mut spec = CheckSpec::new(name, Tier::Two, CheckAction::Shell(text.to_string()));
        spec.parser = parser;
        has_runtime_signal(&project.run(&[spec]))
    };
    assert!(!run("cmake-build:native", "true", Parser::None) && !run("custom", "exit 1", Parser::None));
    assert!(!run("custom", "echo 'test result: ok. 0 passed; 0 failed'", Parser::Cargo));
    assert!(run("custom", "true", Parser::None));
    assert!(run("custom", "echo 'test result: FAILED. 0 passed; 1 failed'; exit 1", Parser::Cargo));
    assert!(!has_runtime_signal(&project.run(&[CheckSpec::new(
        "a",
        Tier::One,
        CheckAction::argv(&["true"])
    )])));
}
