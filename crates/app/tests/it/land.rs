//! `remand land`: branches land in order, only if they pass merged with those before.

use crate::place::Place;
use crate::rehearsed::Script;
use crate::vet::{PYTHON, told, vet_json};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};

/// Five branches of which the third breaks the fourth.
fn five_branches() -> Place {
    let place = told(&PYTHON);
    for (name, file) in [("first", "cart/first.py"), ("second", "cart/second.py"), ("fifth", "cart/fifth.py")]
    {
        place.git(&["checkout", "-q", "-b", name, "main"]);
        place.write(file, "VALUE = 1\n");
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", name]);
    }
    place.git(&["checkout", "-q", "-b", "elsewhere", "main"]);
    place.git(&["branch", "-q", "-m", "renames-pieces", "third"]);
    place.git(&["branch", "-q", "-m", "uses-pieces", "fourth"]);
    place
}

// BY-02
#[test]
fn branches_land_in_order_and_the_one_that_breaks_comes_back() {
    for arguments in [&[][..], &["--batch"][..]] {
        let place = five_branches();
        let remote = place.state().join("../remote.git").display().to_string();
        place.git(&["clone", "-q", "--bare", ".", &remote]);
        place.git(&["remote", "add", "origin", &remote]);
        place.git(&["fetch", "-q", "origin"]);
        let (published, before) = (place.git(&["ls-remote", &remote]), place.git(&["rev-parse", "main"]));
        let branches = ["first", "second", "third", "fourth", "fifth"];
        let landed = place.remand(&[&["--json", "land"], arguments, &branches].concat());
        assert_eq!(landed.code, 10, "{}{}", landed.out, landed.err);
        let report: Value = serde_json::from_str(&landed.out).expect("JSON");
        let names = |list: &Value| -> Vec<String> {
            let rows = list.as_array().expect("a list").iter();
            rows.map(|row| row["branch"].as_str().expect("a name").to_string()).collect()
        };
        assert_eq!(names(&report["landed"]), ["first", "second", "third", "fifth"]);
        assert_eq!(names(&report["returned"]), ["fourth"]);
        assert!(report["returned"][0]["report"]["look"]["sentence"].is_string(), "{report:#}");
        assert_eq!(report["vets"], 5, "the batch, three to find the culprit, and the rest: {report:#}");
        assert_ne!(place.git(&["rev-parse", "main"]), before);
        let files = place.git(&["ls-tree", "-r", "--name-only", "main"]);
        assert!(files.contains("cart/fifth.py") && !files.contains("cart/receipt.py"), "{files}");
        let merged = place.git(&["branch", "--merged", "main"]);
        assert!(merged.contains("third") && !merged.contains("fourth"), "{merged}");
        assert_eq!(vet_json(&place, &[&format!("{}..main", before.trim())]).0, 0);
        assert_eq!(place.git(&["ls-remote", &remote]), published, "nothing is pushed");
    }
}

// BY-02
#[test]
fn a_conflict_comes_back_and_a_checkout_with_changes_is_left_alone() {
    let place = told(&PYTHON);
    place.git(&["checkout", "-q", "-b", "other", "main"]);
    place.write("cart/price.py", "def net(items):\n    return 0\n");
    place.git(&["commit", "-qam", "other"]);
    place.git(&["checkout", "-q", "main"]);
    place.write("cart/price.py", "mine\n");
    let refused = place.remand(&["--json", "land", "uses-pieces", "refactoring"]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    let report: Value = serde_json::from_str(&refused.out).expect("JSON");
    assert_eq!(report["landed"][0]["branch"], "uses-pieces", "it was not in the way: {report:#}");
    let why = report["stopped"].as_str().expect("why it stopped");
    assert!(why.contains("cannot be moved forward"), "{why}");
    assert_eq!(fs::read_to_string(place.project().join("cart/price.py")).expect("a file"), "mine\n");
    place.git(&["checkout", "-q", "--", "."]);
    let landed = place.remand(&["--json", "land", "refactoring", "other"]);
    let report: Value = serde_json::from_str(&landed.out).expect("JSON");
    assert_eq!(report["landed"][0]["branch"], "refactoring", "{report:#}");
    let returned = &report["returned"][0]["report"];
    assert_eq!(returned["findings"][0]["rule"], "merge-conflict", "{report:#}");
    assert_eq!(returned["look"]["place"]["file"], "cart/price.py", "{report:#}");
    assert_eq!(place.git(&["status", "--porcelain"]), "", "the checkout moved with its branch");
}

// BY-02
#[test]
fn a_killed_landing_is_continued_by_the_same_command() {
    let place = five_branches();
    let command = ["land", "first", "second", "third"];
    let mut killed = place.start(&command);
    let stderr = BufReader::new(killed.stderr.take().expect("its messages"));
    let reached = stderr.lines().map_while(Result::ok).any(|line| line == "vet second on main");
    assert!(reached, "it got to the second branch");
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let again = place.remand(&[&["--json"], &command[..]].concat());
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    let report: Value = serde_json::from_str(&again.out).expect("JSON");
    let rows = report["landed"].as_array().expect("a list");
    assert_eq!(rows.len(), 3, "{report:#}");
    assert_eq!(rows[0]["was-there"], true, "{report:#}");
    assert_eq!(rows[2]["was-there"], false, "{report:#}");
    let merges = place.git(&["log", "--format=%s", "--first-parent", "main"]);
    assert_eq!(merges.matches("Merge branch 'second'").count(), 1, "nothing lands twice: {merges}");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

// BY-02
#[test]
fn two_landings_at_once_both_land() {
    let place = five_branches();
    let landings = [["land", "first", "third"], ["land", "second", "fifth"]].map(|line| place.start(&line));
    for landing in landings {
        let ended = landing.wait_with_output().expect("ended");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let merged = place.git(&["branch", "--merged", "main"]);
    assert!(["first", "second", "third", "fifth"].iter().all(|name| merged.contains(name)), "{merged}");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

// BY-02
#[test]
fn the_run_that_made_a_branch_gets_the_report() {
    let place = Place::new();
    let made = place.quick(&Script::quick(), &[]);
    assert_eq!(made.code, 0, "{}{}", made.out, made.err);
    let run = place.latest();
    place.git(&["checkout", "-q", "main"]);
    place.write("sums/sub.py", "def sub(a, b):\n    return -b + a\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "Somebody else subtracts"]);
    let landed = place.remand(&["land", &run.branch]);
    assert_eq!(landed.code, 10, "{}{}", landed.out, landed.err);
    let report = place.home().join("runs").join(&run.run.0).join("landing-report.md");
    let text = fs::read_to_string(&report).expect("a report");
    assert!(text.contains("sums/sub.py") && text.contains("conflicts"), "{text}");
    assert!(landed.out.contains(&report.display().to_string()), "{}", landed.out);
}
