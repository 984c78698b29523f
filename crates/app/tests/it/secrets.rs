//! Secrets: however they come in, nothing that the engine stores contains them.

use crate::place::{Place, shown};
use crate::rehearsed::{SUB, Script, TRIVIAL, finding, implemented, role};
use serde_json::json;
use std::path::Path;

const SECRET: &str = "tok-5f2c9e0b7d6a4431";

/// Every file below a folder that contains the secret.
fn files_containing(folder: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_containing(&path, secret));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(secret.len()).any(|at| at == secret.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

// EP-30
#[test]
fn a_secret_reaches_no_prompt_no_artifact_and_no_ledger() {
    let backwards: String = SECRET.chars().rev().collect();
    let say = format!("echo {backwards} | rev");
    let place = Place::configured(&format!(
        "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n[checks.loud]\ncommand = \
         \"{say}; {say} >&2; test -f sums/sub.py\"\n\n[secrets]\n\
         environment = [\"DEPLOY_KEY\"]\n"
    ));
    let mut leaking = finding("R1", "minor", "SECRET");
    leaking["evidence"] = json!("SECRET");
    let report = json!({
        "schema_version": "1.0",
        "completion": {"status": "DONE", "summary": "It works with SECRET.", "findings_count": 1, "output_paths": []},
        "payload": {"verdict": "approve", "summary": "SECRET", "findings": [leaking]},
    });
    // The first attempt crashes with the secret as its last output; the second one writes it into a file.
    let script = Script::quick()
        .with(role("implementer").attempt(1).runs(&say).runs(&format!("{say} >&2; kill -9 $PPID")));
    let script = script.with(
        role("implementer")
            .attempt(2)
            .writes("sums/sub.py", SUB)
            .runs(&format!("{say} > sums/key.txt"))
            .runs(&say)
            .runs(&format!("{say} >&2"))
            .says(json!({
                "verdict": "done", "hypothesis": "none", "changes": [{"file": "sums/sub.py", "what": "sub"}],
            })),
    );
    // The reviewer's result contains the secret. A script must not, so a command writes it.
    let result = format!("{report}").replace('\'', "");
    let reviewer = role("reviewer").runs(&format!(
        "folder=$(dirname \"$REMAND_DISPATCH\"); printf '%s' '{result}' | sed \"s/SECRET/$({say})/g\" > \"$folder/out/result.yaml\""
    ));
    let request = format!("Subtract; the key is {SECRET}");
    let file = place.write_outside("rehearsal.yaml", &script.with(reviewer).text());
    let mut command =
        place.command(&["run", &request, "--workflow", "quick", "--agent", &format!("rehearsal:{file}")]);
    command.env("DEPLOY_KEY", SECRET);

    let seen = shown(command);

    assert_eq!(seen.code, 0, "{}{}", seen.out, seen.err);
    let run = place.latest();
    let dispatches = place.reader().dispatches(&run.run).expect("dispatches");
    assert_eq!(
        dispatches.last().and_then(|row| row.summary.as_deref()),
        Some("It works with [secret: DEPLOY_KEY].")
    );
    assert!(run.request.contains("[secret: DEPLOY_KEY]"), "{}", run.request);
    for text in
        [&seen.out, &seen.err, &place.remand(&["evidence"]).out, &place.git(&["log", "--all", "--format=%B"])]
    {
        assert!(!text.contains(SECRET), "{text}");
    }
    assert_eq!(dispatches[0].failure.as_deref(), Some("crashed"));
    // Only the work, which belongs to the user, still contains it.
    let mut kept = files_containing(&place.state(), SECRET);
    kept.retain(|path| !path.ends_with("/sums/key.txt"));
    assert_eq!(kept, Vec::<String>::new());
}

// EP-30 CORE-18
#[test]
fn nothing_that_a_run_is_pinned_to_may_contain_a_secret() {
    let place = Place::configured(TRIVIAL);
    let refused = |script: &Script, holder: &str| {
        let file = place.write_outside("rehearsal.yaml", &script.text());
        let mut command = place.command(&[
            "run",
            "Subtract",
            "--workflow",
            "quick",
            "--agent",
            &format!("rehearsal:{file}"),
        ]);
        let seen = shown({
            command.env("DEPLOY_KEY", SECRET);
            command
        });
        assert_eq!(seen.code, 1, "{}{}", seen.out, seen.err);
        let what =
            format!("{holder} contains a secret, [secret: DEPLOY_KEY], which would be stored with the run");
        assert!(seen.err.contains(&what), "{}", seen.err);
        assert_eq!(files_containing(&place.state(), SECRET), Vec::<String>::new());
    };
    let file = place.project().with_file_name("rehearsal.yaml");
    refused(
        &Script::quick().with(role("implementer").writes("key.txt", SECRET)),
        &format!("the agent `rehearsal:{}`", file.display()),
    );
    place.write(
        "remand.toml",
        &format!("[checks]\ndetect = false\n\n[checks.pw]\ncommand = \"DB_PASSWORD={SECRET} true\"\n"),
    );
    refused(&Script::quick(), "the check `pw`");
}

// EP-30 BY-06
#[test]
fn a_recording_contains_no_secret_that_an_agent_wrote_into_a_file() {
    let place = Place::configured(TRIVIAL);
    let backwards: String = SECRET.chars().rev().collect();
    let work =
        role("implementer").writes("sums/sub.py", SUB).runs(&format!("echo {backwards} | rev > key.txt"));
    let script = Script::quick().with(work.says(implemented("")));
    let file = place.write_outside("rehearsal.yaml", &script.text());
    let recording = place.project().with_file_name("recording.yaml");
    let mut command = place.command(&["run", "Subtract", "--workflow", "quick"]);
    command.arg("--agent").arg(format!("rehearsal:{file}")).arg("--record").arg(&recording);
    command.env("DEPLOY_KEY", SECRET);

    let seen = shown(command);

    assert_eq!(seen.code, 0, "{}{}", seen.out, seen.err);
    assert!(seen.err.contains("secrets were removed from key.txt; a replay"), "{}", seen.err);
    let text = std::fs::read_to_string(recording).expect("the recording");
    assert!(text.contains("[secret: DEPLOY_KEY]") && !text.contains(SECRET), "{text}");
}
