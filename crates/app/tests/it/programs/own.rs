//! Any program can be an agent: a row in the configuration, text in and text out.

use crate::place::Place;
use crate::rehearsed::{REQUEST, Script, TRIVIAL, implemented, role};
use remand_ledger::query::RunStage;
use serde_json::{Value, json};

const QUICK: &str = include_str!("../../../../../workflows/quick.yaml");

/// Reads its prompt with the request in it, does the task, and writes its result to the given path.
const AGENT: &str = r#"#!/bin/sh
grep -q "Add subtraction" || exit 3
printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
cat > "$1" <<'END'
RESULT
END
echo "Subtraction is there."
"#;

/// A complete result of an implementer.
fn result() -> Value {
    json!({
        "agent": "implementer", "step": "implement", "schema_version": "1.0", "payload": implemented(""),
        "completion": {"status": "DONE", "summary": "Subtraction.", "findings_count": 0, "output_paths": []},
    })
}

// CORE-11
#[test]
fn doctor_dispatches_an_agent_once_on_request() {
    let place = Place::configured(TRIVIAL);
    let greeter = role("greeter").says(json!({"verdict": "done", "summary": "Hello."}));
    let agent =
        format!("rehearsal:{}", place.write_outside("greeter.yaml", &Script::quick().with(greeter).text()));
    let shown = place.remand(&["doctor", "--agent", &agent, "--model", "small"]);
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("with small returned a result") && said.contains("100 tokens, cost $0.01"),
        "{said}"
    );
    assert_eq!(shown.code, 0, "{said}");

    let failing = place.write_program("failing", "#!/bin/sh\necho 'not today' >&2\nexit 3\n");
    let row = format!(
        "[agents.failing]\ntitle = \"Failing\"\ncommand = [{failing:?}]\nspeaks = \"text\"\narguments = []\n"
    );
    place.write("remand.toml", &format!("{TRIVIAL}\n{row}"));
    for (agent, why) in [("failing", "not today"), ("nobody", "there is no agent `nobody`")] {
        let shown = place.remand(&["doctor", "--agent", agent]);
        let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.code == 1 && said.contains(why), "{said}{}", shown.err);
    }
    assert!(
        !place.state().join("ledger.db").exists() && place.git(&["status", "--short"]).lines().count() == 1
    );
}

#[test]
fn an_agent_defined_by_the_repository_is_never_started_to_list_it_and_cannot_replace_a_known_one() {
    let place = Place::new().without_agents();
    let mark = place.user_home().join("started");
    let cloned = place.write_program("cloned", &format!("#!/bin/sh\ntouch {}\necho 1.2.3\n", mark.display()));
    let row = format!("[agents.cloned]\ntitle = \"Cloned\"\ncommand = [{cloned:?}]\narguments = []\n");
    place.write("remand.toml", &format!("{TRIVIAL}\n{row}"));
    let shown = place.remand(&["agents", "cloned"]);
    assert!(shown.code == 0 && shown.out.contains("so not started"), "{shown:?}");

    place.write("remand.toml", &format!("{TRIVIAL}\n[agents.codex]\ncommand = [{cloned:?}]\n"));
    for line in [&["agents"][..], &["run", REQUEST, "--agent", "codex"]] {
        let shown = place.remand(line);
        let remedy = "move `[agents.codex]` to ~/.config/remand/config.toml";
        assert!(shown.code == 1 && shown.err.contains(remedy), "{shown:?}");
    }
    assert!(!mark.exists(), "it was started");

    place.write("remand.toml", TRIVIAL);
    place.add_user_settings(&row);
    let shown = place.remand(&["agents", "cloned"]);
    assert!(shown.out.contains("1.2.3") && mark.exists(), "an agent of the user is started: {shown:?}");
}

// CORE-11 CORE-15
#[test]
fn a_user_script_can_be_an_agent() {
    let place = Place::new();
    let script = place.write_program("agent", &AGENT.replace("RESULT", &result().to_string()));
    let settings = format!(
        "{TRIVIAL}\n[roles.implementer]\nagent = \"mine\"\n\n[agents.mine]\ntitle = \"Mine\"\ncommand = [{script:?}]\n\
         speaks = \"text\"\narguments = [\"${{result}}\"]\n"
    );
    place.write("remand.toml", &settings);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Settings"]);
    let shown = place.run(REQUEST, &Script::quick().text(), &["--workflow", "quick"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let run = place.latest();
    assert_eq!(run.stage, RunStage::Committed);
    let sub = place.git(&["show", &format!("{}:sums/sub.py", run.branch)]);
    assert!(sub.contains("return a - b"), "{sub}");
    let row = &place.reader().dispatches(&run.run).expect("dispatches")[0];
    assert_eq!((row.driver.as_deref(), row.exit_code), (Some("mine"), Some(0)));
    assert_eq!((row.tokens, row.money), (None, None), "it reports none");
}

/// Prints its result at the end of its output, as lines of JSON.
const TALKING: &str = r#"#!/bin/sh
printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
cat <<'END'
SAID
{"end": true}
END
"#;

// BY-06
#[test]
fn a_result_within_json_lines_is_recorded_as_received() {
    let place = Place::new();
    let said = json!({"text": format!("It is done.\n```json\n{}\n```\n", result())});
    let script = place.write_program("agent", &TALKING.replace("SAID", &said.to_string()));
    let row = format!(
        "[roles.implementer]\nagent = \"mine\"\n\n[agents.mine]\ntitle = \"Mine\"\ncommand = [{script:?}]\n\
         arguments = []\n\n[agents.mine.hear]\nanswer = [{{ at = \"text\" }}]\nend = [{{ in = {{ end = true }} }}]\n"
    );
    place.write("remand.toml", &format!("{TRIVIAL}\n{row}"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Settings"]);
    let recording = place.project().with_file_name("recording.yaml").display().to_string();
    let shown = place.run(REQUEST, &Script::quick().text(), &["--workflow", "quick", "--record", &recording]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let text = std::fs::read_to_string(&recording).expect("the recording");
    let again = Place::configured(TRIVIAL);
    let shown = again.run(REQUEST, &text, &["--workflow", "quick"]);
    assert_eq!(shown.code, 0, "{}{}\n{text}", shown.out, shown.err);
    let dispatches = |place: &Place| {
        let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
        rows.into_iter().map(|row| (row.phase, row.says, row.failure)).collect::<Vec<_>>()
    };
    assert_eq!(dispatches(&again), dispatches(&place));
}

/// Does half of the work in its first attempt, and cannot resume its session.
const FORGETFUL: &str = r#"#!/bin/sh
test -z "$2" || { echo "no session $2" >&2; exit 1; }
echo '{"session": "'$(date +%N)'"}'
if test -e sums/sub.py; then
    cat > "$1" <<'END'
RESULT
END
else
    printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
    echo '{"payload": {"verdict": "splendid"}}' > "$1"
fi
echo '{"end": true}'
"#;

// CORE-15
#[test]
fn an_agent_that_cannot_resume_its_session_starts_fresh_with_all_inputs() {
    let place = Place::new();
    let script = place.write_program("agent", &FORGETFUL.replace("RESULT", &result().to_string()));
    let row = format!(
        "[roles.implementer]\nagent = \"mine\"\n\n[agents.mine]\ntitle = \"Mine\"\ncommand = [{script:?}]\n\
         arguments = [\"${{result}}\", {{ if = \"session\", then = [\"${{session}}\"] }}]\n\n[agents.mine.hear]\n\
         session = [{{ at = \"session\" }}]\nend = [{{ in = {{ end = true }} }}]\n"
    );
    place.write("remand.toml", &format!("{TRIVIAL}\n{row}"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Settings"]);
    let shown = place.run(REQUEST, &Script::quick().text(), &["--workflow", "quick"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let (run, reader) = (place.latest(), place.reader());
    let rows = reader.dispatches(&run.run).expect("dispatches");
    let failures: Vec<Option<&str>> = rows.iter().map(|row| row.failure.as_deref()).collect();
    assert_eq!(failures, [Some("malformed"), None, None], "{rows:?}");
    assert!(rows[1].session.is_some() && rows[0].session != rows[1].session, "{rows:?}");
    let prompt = reader.blob(rows[1].prompt.expect("a prompt")).expect("a blob");
    let prompt = String::from_utf8_lossy(&prompt);
    assert!(prompt.contains("# implementer") && prompt.contains("splendid"), "{prompt}");
    let notes = reader.notes(&run.run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("could not resume its session")), "{notes:?}");
}

/// Tries to replace its home with the user's, and its copy of the key with the user's key.
const GRASPING: &str = r#"#!/bin/sh
echo '{"session": "s"}'
if test -n "$2"; then
    cat > "$1" <<'END'
RESULT
END
else
    mv "$HOME" "$HOME-away" && ln -s 'USER' "$HOME"
    rm -rf "$HOME/.account" && ln -s 'USER/.account' "$HOME/.account"
    printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
    echo '{"payload": {"verdict": "splendid"}}' > "$1"
fi
echo '{"end": true}'
"#;

// CORE-05, CORE-15
#[test]
fn a_home_kept_for_a_session_does_not_lead_outside() {
    let place = Place::configured(TRIVIAL);
    let user = place.user_home();
    let script =
        GRASPING.replace("RESULT", &result().to_string()).replace("USER", &user.display().to_string());
    let script = place.write_program("agent", &script);
    let row = format!(
        "[roles.implementer]\nagent = \"mine\"\n\n[agents.mine]\ntitle = \"Mine\"\ncommand = [{script:?}]\n\
         credentials = [\".account/key\"]\n\
         arguments = [\"${{result}}\", {{ if = \"session\", then = [\"${{session}}\"] }}]\n\n[agents.mine.hear]\n\
         session = [{{ at = \"session\" }}]\nend = [{{ in = {{ end = true }} }}]\n"
    );
    for (path, text) in [(".account/key", "mine"), (".config/remand/config.toml", row.as_str())] {
        std::fs::create_dir_all(user.join(path).parent().expect("a folder")).expect("a folder");
        std::fs::write(user.join(path), text).expect("a file");
    }
    let shown = place.run(REQUEST, &Script::quick().text(), &["--workflow", "quick"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(std::fs::read_to_string(user.join(".account/key")).expect("the key"), "mine");
    assert!(!user.join(".remand").exists());
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    assert_eq!(rows[0].failure.as_deref(), Some("malformed"), "{rows:?}");
    assert_eq!((rows[1].failure.as_deref(), rows[1].session.as_deref()), (None, Some("s")), "{rows:?}");
}

/// Records when it was started; in its first attempt the service asks to wait.
const LIMITED: &str = r#"#!/bin/sh
date +%s
if grep -q '"attempt": 1' "$2"; then
    echo "429 Too Many Requests, retry after 4 s" >&2
    exit 1
fi
printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
cat > "$1" <<'END'
RESULT
END
"#;

// CORE-10
#[test]
fn the_engine_waits_as_long_as_the_service_asks() {
    let place = Place::new();
    let script = place.write_program("agent", &LIMITED.replace("RESULT", &result().to_string()));
    let row = format!(
        "[roles.implementer]\nagent = \"mine\"\n\n[agents.mine]\ntitle = \"Mine\"\ncommand = [{script:?}]\n\
         speaks = \"text\"\narguments = [\"${{result}}\", \"${{dispatch}}\"]\n"
    );
    place.write("remand.toml", &format!("{TRIVIAL}\n{row}"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Settings"]);
    let shown = place.run(REQUEST, &Script::quick().text(), &["--workflow", "quick"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let (run, reader) = (place.latest(), place.reader());
    let rows = reader.dispatches(&run.run).expect("dispatches");
    assert_eq!(rows[0].failure.as_deref(), Some("environment"), "{rows:?}");
    assert!(rows[0].detail.as_deref().is_some_and(|text| text.contains("retry after 4 s")), "{rows:?}");
    let started = |number: usize| -> u64 {
        let said = reader.blob(rows[number].output.expect("its output")).expect("a blob");
        String::from_utf8_lossy(&said).split_whitespace().find_map(|word| word.parse().ok()).expect("a time")
    };
    assert!(started(1) - started(0) >= 4, "{} and {}", started(0), started(1));
}

/// Leaves something unfinished at first, and finishes it in the same session.
const HASTY: &str = r#"#!/bin/sh
echo '{"session": "'${2:-$(date +%N)}'"}'
printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
test -n "$2" || echo '# FIXME' >> sums/sub.py
cat > "$1" <<'END'
RESULT
END
echo '{"end": true}'
"#;

// EP-14
#[test]
fn findings_of_quick_checks_go_back_to_the_same_session_and_others_do_not() {
    let sessions = |operation: &str| {
        let place = Place::new();
        let script = place.write_program("agent", &HASTY.replace("RESULT", &result().to_string()));
        let checks =
            "[checks]\ndetect = false\n\n[checks.finished]\ncommand = \"! grep -rq FIXME sums\"\ntier = 1\n";
        let row = format!(
            "[roles.implementer]\nagent = \"mine\"\n\n[agents.mine]\ntitle = \"Mine\"\ncommand = [{script:?}]\n\
             arguments = [\"${{result}}\", {{ if = \"session\", then = [\"${{session}}\"] }}]\n\n[agents.mine.hear]\n\
             session = [{{ at = \"session\" }}]\nend = [{{ in = {{ end = true }} }}]\n"
        );
        place.write("remand.toml", &format!("{checks}\n{row}"));
        place
            .write(".remand/workflows/quick.yaml", &QUICK.replace("do: checks", &format!("do: {operation}")));
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "Settings"]);
        let shown = place.run(REQUEST, &Script::quick().text(), &["--workflow", "quick"]);
        let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
        let own = rows.into_iter().filter(|row| row.role == "implementer");
        (shown, own.filter_map(|row| row.session).collect::<Vec<_>>())
    };
    let (shown, quick) = sessions("quick-checks");
    assert!(shown.code == 0 && quick.len() == 2 && quick[0] == quick[1], "{quick:?}: {shown:?}");
    let (shown, others) = sessions("checks");
    assert!(others.len() > 1 && others[0] != others[1], "{others:?}: {shown:?}");
}
