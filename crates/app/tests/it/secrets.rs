//! Secrets: whatever way they come in, nothing that the engine keeps holds them.

use crate::place::{Place, shown};
use crate::rehearsed::{SUB, Script, finding, role};
use serde_json::json;
use std::path::Path;

const SECRET: &str = "tok-5f2c9e0b7d6a4431";

/// Every file below a folder that holds these bytes.
fn holding(folder: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(holding(&path, secret));
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
    let encoded = "dG9rLTVmMmM5ZTBiN2Q2YTQ0MzE=";
    let place = Place::configured(&format!(
        "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n[checks.loud]\ncommand = \
         \"echo {encoded} | base64 -d; echo; echo {encoded} | base64 -d >&2; test -f sums/sub.py\"\n\n[secrets]\n\
         environment = [\"DEPLOY_KEY\"]\n"
    ));
    let say = format!("echo {encoded} | base64 -d");
    let mut told = finding("R1", "minor", "SECRET");
    told["evidence"] = json!("SECRET");
    let report = json!({
        "schema_version": "1.0",
        "completion": {"status": "DONE", "summary": "It works with SECRET.", "findings_count": 1, "output_paths": []},
        "payload": {"verdict": "approve", "summary": "SECRET", "findings": [told]},
    });
    // The first attempt crashes with the secret as its last word; the second one puts it into a file.
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
    // The reviewer's result holds the secret itself, which no script may: it is put in by a command.
    let result = format!("{report}").replace('\'', "");
    let reviewer = role("reviewer").runs(&format!(
        "folder=$(dirname \"$REMAND_DISPATCH\"); printf '%s' '{result}' | sed \"s/SECRET/$({say})/g\" > \"$folder/out/result.yaml\""
    ));
    let request = format!("Subtract; the key is {SECRET}");
    let file = place.beside("rehearsal.yaml", &script.with(reviewer).text());
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
    // Only the work itself, which is the user's, still has what was put into it.
    let mut kept = holding(&place.state(), SECRET);
    kept.retain(|path| !path.ends_with("/sums/key.txt"));
    assert_eq!(kept, Vec::<String>::new());
}
