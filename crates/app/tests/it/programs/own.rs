//! Agents that are any program: a row in the configuration, text in and text out.

use crate::place::Place;
use crate::rehearsed::{REQUEST, Script, TRIVIAL, implemented, role};
use remand_ledger::query::RunStage;
use serde_json::json;

/// Reads its prompt and the request that lies where that says, does the task, and leaves its result where it was told.
const AGENT: &str = r#"#!/bin/sh
inputs=$(sed -n 's/^In `\(.*\)`:$/\1/p')
grep -q "Add subtraction" "$inputs"/request* || exit 3
printf 'def sub(a, b):\n    return a - b\n' > sums/sub.py
cat > "$1" <<'END'
RESULT
END
echo "Subtraction is there."
"#;

// CORE-11
#[test]
fn doctor_dispatches_an_agent_once_on_request() {
    let place = Place::configured(TRIVIAL);
    let greeter = role("greeter").says(json!({"verdict": "done", "summary": "Hello."}));
    let agent = format!("rehearsal:{}", place.beside("greeter.yaml", &Script::quick().with(greeter).text()));
    let shown = place.remand(&["doctor", "--agent", &agent, "--model", "small"]);
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("with small handed in its result") && said.contains("100 tokens, cost 0.01"),
        "{said}"
    );
    assert_eq!(shown.code, 0, "{said}");

    let failing = place.settle("failing", "#!/bin/sh\necho 'not today' >&2\nexit 3\n");
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

// CORE-11 CORE-15
#[test]
fn a_script_of_the_users_own_is_an_agent() {
    let result = json!({
        "agent": "implementer", "step": "implement", "schema_version": "1.0", "payload": implemented(""),
        "completion": {"status": "DONE", "summary": "Subtraction.", "findings_count": 0, "output_paths": []},
    });
    let place = Place::new();
    let script = place.settle("agent", &AGENT.replace("RESULT", &result.to_string()));
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
    assert_eq!(run.stage, RunStage::Done);
    let sub = place.git(&["show", &format!("{}:sums/sub.py", run.branch)]);
    assert!(sub.contains("return a - b"), "{sub}");
    let row = &place.reader().dispatches(&run.run).expect("dispatches")[0];
    assert_eq!((row.driver.as_deref(), row.exit_code), (Some("mine"), Some(0)));
    assert_eq!((row.tokens, row.money), (None, None), "it says nothing of them");
}
