//! Questions to a human: they wait, are answered once, and stay recorded.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL, plan, research, role, spec, subtracting, task};
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{GateRow, RunStage};
use serde_json::{Value, json};

fn open_gate(place: &Place) -> GateRow {
    let mut open = place.reader().open_gates().expect("gates");
    assert_eq!(open.len(), 1, "{open:?}");
    open.remove(0)
}

// EP-12 EP-03 CORE-14
#[test]
fn an_interactive_run_waits_at_each_gate_until_it_is_answered() {
    let place = Place::configured(TRIVIAL);
    let files = [("sums/sub.py", "red"), ("tests/test_sub.py", "green")];
    let mut large = task("task-1", &files, &[]);
    large["size"] = json!("large");
    let concern = json!([{"id": "C-1", "text": "Nobody asked for negative results."}]);
    let script =
        Script::feature(&[large]).with(subtracting()).with(role("spec").says(spec("concerns", concern)));
    let script = ["case-1", "case-2", "case-3"]
        .iter()
        .fold(script, |script, area| script.with(role("researcher").item(area).says(research(area))));

    let shown = place.feature(&script, &["--interactive"]);

    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest().run;
    assert!(shown.out.contains("Is this the right direction?"), "{}", shown.out);
    assert!(shown.out.contains(&format!("remand answer {run} proceed")), "{}", shown.out);
    let gate = open_gate(&place);
    assert_eq!(
        (gate.phase.as_str(), gate.mode.as_str(), gate.default.as_deref()),
        ("approve-research", "interactive", Some("proceed"))
    );
    assert!(gate.options.iter().all(|option| option.name.chars().count() <= 50));

    // Waiting does not answer it, and a resume finds the same question.
    let resumed = place.remand(&["resume", &run.0]);
    assert_eq!(resumed.code, 5, "{}{}", resumed.out, resumed.err);
    assert_eq!(open_gate(&place), gate);
    let wrong = place.remand(&["answer", &run.0, "maybe"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("proceed, expand, abort"), "{}", wrong.err);
    assert_eq!(open_gate(&place), gate);

    // Research can be expanded three times, not four.
    for round in 1..=3 {
        let shown = place.remand(&["answer", &run.0, "expand", "--note", &format!("Case {round}")]);
        assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    }
    let last = open_gate(&place);
    assert!(last.options.iter().all(|option| option.name != "expand"), "{last:?}");
    assert_eq!(last.withheld.iter().map(|option| option.name.as_str()).collect::<Vec<_>>(), ["expand"]);
    let refused = place.remand(&["answer", &run.0, "expand"]);
    assert_eq!(refused.code, 1, "{}", refused.err);

    let shown = place.remand(&["answer", &run.0, "proceed"]);
    assert_eq!((shown.code, open_gate(&place).phase.as_str()), (5, "pushback"), "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("Nobody asked for negative results."), "the concern is shown: {}", shown.out);
    let shown = place.remand(&["answer", &run.0, "proceed", "--note", "negative results are fine"]);
    assert_eq!(
        (shown.code, open_gate(&place).phase.as_str()),
        (5, "approve-plan"),
        "{}{}",
        shown.out,
        shown.err
    );
    assert!(
        shown.out.contains("sums/sub.py") && shown.out.contains("red"),
        "red files are shown: {}",
        shown.out
    );
    let shown = place.remand(&["answer", &run.0, "abort"]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().stage, RunStage::Stopped);

    let gates = place.reader().gates(&run).expect("gates");
    let answers: Vec<_> =
        gates.iter().map(|gate| (gate.option.as_deref(), gate.by.as_deref(), gate.auto)).collect();
    let by = Some("ada");
    let expected: Vec<_> = ["expand", "expand", "expand", "proceed", "proceed", "abort"]
        .map(|option| (Some(option), by, false))
        .to_vec();
    assert_eq!(answers, expected);
    assert_eq!(gates[4].note.as_deref(), Some("negative results are fine"));
    assert!(gates.iter().all(|gate| gate.mode == "interactive" && gate.answered_at.is_some()));
    // The agents get the note of the human.
    let research = place.reader().dispatches(&run).expect("dispatches");
    let last = research.iter().rfind(|row| row.role == "researcher").expect("a researcher");
    let prompt = place.prompt(&run, &last.command);
    assert!(prompt.contains("Case 3"), "{prompt}");
}

// EP-03 EP-02
#[test]
fn concerns_of_the_engine_are_logged_in_autonomous_mode_and_asked_about_in_interactive_mode() {
    let place = Place::configured(TRIVIAL);
    let request = "Make `sums/nowhere.py` subtract";
    let script = Script::subtraction().text();
    let shown = place.run(request, &script, &["--workflow", "feature"]);
    assert_eq!(shown.code, 0, "it never halts by itself: {}{}", shown.out, shown.err);
    let run = place.latest().run;
    let concerns = |run: &remand_ledger::RunId| -> Vec<String> {
        let notes = place.reader().notes(run).expect("notes");
        notes.into_iter().filter(|note| note.kind == NoteKind::Concern).map(|note| note.text).collect()
    };
    assert_eq!(concerns(&run), ["the request names `sums/nowhere.py`, which does not exist"]);
    let gates = place.reader().gates(&run).expect("gates");
    assert_eq!(
        (gates[0].phase.as_str(), gates[0].option.as_deref(), gates[0].auto),
        ("early-pushback", Some("proceed"), true)
    );

    let asking = ["--workflow", "feature", "--interactive"];
    let request = "Make `sums/elsewhere.py` subtract";
    let shown = place.run(request, &script, &asking);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest().run;
    assert_eq!(concerns(&run), ["the request names `sums/elsewhere.py`, which does not exist"]);
    assert!(shown.out.contains("the request names `sums/elsewhere.py`"), "{}", shown.out);
    assert_eq!(place.latest().used.dispatches, 0);
    let names: Vec<_> = open_gate(&place).options.into_iter().map(|option| option.name).collect();
    assert_eq!(names, ["proceed", "modify", "abandon"]);
    let shown = place.remand(&["answer", &run.0, "proceed"]);
    assert_eq!(
        (shown.code, open_gate(&place).phase.as_str()),
        (5, "approve-research"),
        "{}{}",
        shown.out,
        shown.err
    );
    let again = place.run(request, &script, &asking);
    assert_eq!(again.code, 5);
    assert!(concerns(&place.latest().run).contains(&format!("run {run} is under way for the same request")));
    let shown = place.remand(&["answer", &place.latest().run.0, "abandon"]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
}

// EP-02
#[test]
fn the_default_branch_is_a_note_and_asks_nothing() {
    let place = Place::configured(TRIVIAL);
    place.git(&["switch", "-q", "main"]);
    place.git(&["merge", "-q", "work"]);
    let shown = place.feature(&Script::subtraction(), &["--interactive"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    assert_eq!(open_gate(&place).phase, "approve-research", "{}", shown.out);
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("`main` is the default branch")), "{notes:?}");
}

// EP-02
#[test]
fn a_dirty_checkout_is_a_question_in_interactive_mode() {
    let place = Place::configured(TRIVIAL);
    place.write("notes.txt", "mine\n");
    let shown = place.feature(&Script::subtraction(), &["--interactive"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    assert_eq!(open_gate(&place).phase, "early-pushback");
    assert!(shown.out.contains("notes.txt"), "{}", shown.out);
    let shown = place.remand(&["answer", "latest", "proceed"]);
    assert_eq!(
        (shown.code, open_gate(&place).phase.as_str()),
        (5, "approve-research"),
        "{}{}",
        shown.out,
        shown.err
    );
}

// EP-02 EP-03
#[test]
fn a_user_who_amends_the_request_is_not_asked_again_and_sees_it_amended() {
    let place = Place::configured(TRIVIAL);
    place.git(&["switch", "-q", "main"]);
    place.git(&["merge", "-q", "work"]);
    let shown = place.run(
        "Make `sums/nowhere.py` subtract",
        &Script::subtraction().text(),
        &["--workflow", "feature", "--interactive"],
    );
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    assert!(
        !open_gate(&place).question.contains("concerns"),
        "a default branch is not a concern: {}",
        shown.out
    );
    assert!(shown.out.contains("default branch"), "{}", shown.out);
    let shown = place.remand(&["answer", "latest", "modify", "--note", "Only sub."]);
    assert_eq!((shown.code, open_gate(&place).phase.as_str()), (5, "early-pushback"), "{}", shown.out);
    assert!(shown.out.contains("you added to the request: Only sub."), "{}", shown.out);
    assert!(shown.out.contains("sums/nowhere.py") && !shown.out.contains("default branch"), "{}", shown.out);
}

// EP-12 EP-10
#[test]
fn the_note_of_a_human_leads_to_a_revised_plan() {
    let place = Place::configured(TRIVIAL);
    let files = [("sums/sub.py", "green"), ("tests/test_sub.py", "green")];
    let mut better = task("task-1", &files, &[]);
    better["title"] = json!("As the human wants it");
    let script = Script::subtraction().with(role("planner").round(2).says(plan(&[better])));
    place.feature(&script, &["--interactive"]);
    place.remand(&["answer", "latest", "proceed"]);
    assert_eq!(open_gate(&place).phase, "approve-plan");
    let shown = place.remand(&["answer", "latest", "revise", "--note", "say it in my words"]);
    assert_eq!(
        (shown.code, open_gate(&place).phase.as_str()),
        (5, "approve-plan"),
        "{}{}",
        shown.out,
        shown.err
    );
    let run = place.latest().run;
    let planners = place.reader().dispatches(&run).expect("dispatches");
    let planner = planners.iter().rfind(|row| row.role == "planner").expect("a planner");
    let prompt = place.prompt(&run, &planner.command);
    assert!(prompt.contains("say it in my words"), "{prompt}");
    let shown = place.remand(&["answer", "latest", "approve"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// CORE-09
#[test]
fn a_printed_answer_command_works_with_another_state_directory() {
    let place = Place::configured(TRIVIAL);
    let state = place.project().with_file_name("another").display().to_string();
    let shown = place.feature(&Script::subtraction(), &["--interactive", "--state", &state]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let is_answer = |part: &&str| part.starts_with("remand ") && part.contains(" answer ");
    let command = shown.out.split('`').find(is_answer).expect("a command");

    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let answered = place.remand(&words);

    assert_eq!(answered.code, 5, "{}{}", answered.out, answered.err);
    assert!(answered.out.contains("Are these the right tasks?"), "{}", answered.out);
}

// EP-12 EP-10 UP-11
#[test]
fn the_gate_after_planning_shows_tasks_waves_risks_and_time_and_what_each_option_leads_to() {
    let place = Place::configured(TRIVIAL);
    let tasks = [
        task("task-1", &[("sums/sub.py", "red"), ("tests/test_sub.py", "green")], &[]),
        task("task-2", &[("sums/add.py", "yellow")], &[]),
        task("task-3", &[("README.md", "green"), ("sums/sub.py", "yellow")], &["task-1"]),
    ];
    let mut rated = plan(&tasks);
    rated["overall_risk"] = json!("red");
    rated["tasks"][0]["size"] = json!("large");
    let script = Script::feature(&tasks).with(role("planner").says(rated));
    let research = place.feature(&script, &["--interactive"]);
    assert!(research.out.contains("continues with spec (1 agent)"), "{}", research.out);
    assert!(
        research
            .out
            .contains("sends the work and your note back to focus, then more-research (up to 4 agents)"),
        "{}",
        research.out
    );
    assert!(research.out.contains("leaves 2 of 3 in budget expand"), "{}", research.out);

    let shown = place.remand(&["answer", "latest", "proceed"]);

    assert_eq!(open_gate(&place).phase, "approve-plan");
    let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "3 tasks in 2 waves, at most 4 at once; files by risk: 2 green, 1 yellow, 1 red",
        "wave 1: task-1 (red, large): The work of task-1: sums/sub.py (red), tests/test_sub.py (green)",
        "wave 1: task-2 (yellow): The work of task-2: sums/add.py (yellow)",
        "wave 2: task-3 (yellow): The work of task-3: README.md (green), sums/sub.py (yellow)",
        "so far: ",
        " since the start, ",
        "confidence high, risk red",
        "read it in full with `remand show plan --run ",
        " of work",
        "continues with baseline, then tasks (3 tasks, at most 4 at once) (default)",
        "sends the work and your note back to plan (1 agent); what depends on it runs again; leaves 2 of 3 in budget revise",
        "ends the run: aborted; the work so far is kept",
    ] {
        assert!(text.contains(expected), "{expected}: {}", shown.out);
    }
    let gates: Value = serde_json::from_str(&place.remand(&["gates", "--json"]).out).expect("JSON");
    let gate = &gates["gates"][0];
    assert_eq!(gate["plan"]["waves"], json!([["task-1", "task-2"], ["task-3"]]));
    assert_eq!(gate["plan"]["files"], json!({"green": 2, "yellow": 1, "red": 1}));
    assert_eq!(gate["plan"]["tasks"][0]["files"][0], json!({"path": "sums/sub.py", "risk": "red"}));
    assert!(gate["elapsed"].is_u64() && gate["worked"].is_u64(), "{gate}");
    assert_eq!(gate["answers"][2]["does"], "ends the run: aborted; the work so far is kept");
}

// EP-12 EP-04
#[test]
fn expand_researches_the_areas_that_a_human_names_in_addition_to_the_four() {
    let place = Place::configured(TRIVIAL);
    let script = Script::subtraction()
        .with(role("researcher").item("error-handling").says(research("error-handling")))
        .with(role("researcher").item("load").says(research("load")));
    place.feature(&script, &["--interactive"]);
    let nothing = place.remand(&["answer", "latest", "expand"]);
    assert!(nothing.out.contains("your note names no area"), "{}", nothing.out);

    let shown = place.remand(&["answer", "latest", "expand", "--note", "Error handling, load"]);

    assert_eq!((shown.code, open_gate(&place).phase.as_str()), (5, "approve-research"), "{}", shown.err);
    assert!(shown.out.contains("researcher (error-handling): Sums are functions, seen from error-handling."));
    let run = place.latest().run;
    let researchers = || -> Vec<String> {
        let rows = place.reader().dispatches(&run).expect("dispatches");
        rows.into_iter().filter(|row| row.role == "researcher").filter_map(|row| row.item).collect()
    };
    assert_eq!(
        researchers(),
        ["architecture", "impact", "dependencies", "patterns", "error-handling", "load"],
        "the four are not repeated"
    );
    let many = place.remand(&["answer", "latest", "expand", "--note", "a, b, c, d, e"]);
    assert!(many.out.contains("your note names 5 areas, and one answer adds at most 4"), "{}", many.out);

    let shown = place.remand(&["answer", "latest", "proceed"]);
    assert_eq!(open_gate(&place).phase, "approve-plan", "{}{}", shown.out, shown.err);
    let spec = place.reader().dispatches(&run).expect("dispatches");
    let spec = spec.iter().find(|row| row.role == "spec").expect("a spec");
    let prompt = place.prompt(&run, &spec.command);
    assert_eq!(prompt.matches("### `research-").count(), 6, "{prompt}");
    assert!(prompt.contains("### `research-error-handling.yaml`"), "{prompt}");
}
