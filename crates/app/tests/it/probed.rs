//! The sandbox, attacked with `fixtures/probe` from everywhere where code of an agent runs: as this user and as an ordinary
//! one, with namespaces and without.

use crate::place::Place;
use crate::rehearsed::{REQUEST, SUB, Script, TEST_SUB, TRIVIAL, implemented, review, role};
use remand_ledger::query::CheckFilter;
use remand_process::confine::{Wall, WallLevel, probe, table};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// An account of nobody, for tests that root runs.
const ORDINARY: &str = "61234";

#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    This,
    /// An ordinary user, if the tests run as root.
    Ordinary,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Namespaces {
    /// As the machine has them.
    Native,
    Refused,
}

/// The words that start a program as this user.
fn prefix(user: User) -> Vec<String> {
    match user {
        User::This => Vec::new(),
        User::Ordinary => {
            let words = ["setpriv", "--reuid", ORDINARY, "--regid", ORDINARY, "--clear-groups", "--"];
            words.map(String::from).to_vec()
        }
    }
}

/// A command of the test, with other words in front of it.
fn with_prefix(command: &Command, words: Vec<String>) -> Command {
    let all: Vec<_> = words.into_iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
    let own = [command.get_program().to_os_string()];
    let mut argv = all.into_iter().chain(own).chain(command.get_args().map(Into::into));
    let mut changed = Command::new(argv.next().expect("a program"));
    changed.args(argv).env_clear();
    for (name, value) in command.get_envs() {
        value.map(|value| changed.env(name, value));
    }
    changed.current_dir(command.get_current_dir().expect("a folder")).stdin(Stdio::null());
    changed
}

/// A process with files, sockets, memory and a terminal that the probe attacks. It runs outside the sandbox.
struct Victim {
    process: Child,
    output: BufReader<ChildStdout>,
    targets: Value,
}

/// The folder of a victim. Agents see it, because it is neither in a home nor below the folder for temporary files.
fn victim_folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    for name in ["out", "reports"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    for file in fs::read_dir(crate::root().join("fixtures/probe")).expect("the probe") {
        let file = file.expect("a file");
        if file.path().is_file() {
            fs::copy(file.path(), folder.path().join(file.file_name())).expect("a copy");
        }
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("the mode");
    folder
}

/// The command line of the probe; with a report, it writes there.
fn probe_in(folder: &Path, report: Option<&str>) -> String {
    let words = ["probe.py", "targets.json"].map(|name| folder.join(name).display().to_string());
    let report = report.map(|name| folder.join("reports").join(name).display().to_string());
    format!("python3 {} {}", words.join(" "), report.unwrap_or_default())
}

impl Victim {
    /// Starts it with a file that the policies hide.
    fn start(folder: &Path, user: User, hidden: &Path) -> Victim {
        let at = |name: &str| folder.join(name).display().to_string();
        let mut words = prefix(user);
        words.extend(["python3".to_string(), at("victim.py"), at("out"), hidden.display().to_string()]);
        words.push(env!("CARGO_BIN_EXE_remand").to_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("PATH", path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the victim starts");
        let mut output = BufReader::new(process.stdout.take().expect("output"));
        let targets = line(&mut output);
        Victim { process, output, targets }
    }

    /// Tells the probe where everything is.
    fn expose(&self, folder: &Path, engine: u32) {
        let mut targets = self.targets.clone();
        targets["pids"] = json!([engine]);
        let file = folder.join("targets.json");
        fs::write(&file, targets.to_string()).expect("the targets");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("the mode");
    }

    /// What happened to it.
    fn harm(&mut self) -> Vec<String> {
        let mut input = self.process.stdin.take().expect("input");
        writeln!(input, "what happened?").expect("asked");
        let harm = line(&mut self.output);
        drop(input);
        self.process.wait().expect("the victim ends");
        harm.as_array()
            .expect("a list")
            .iter()
            .map(|one| one.as_str().unwrap_or_default().to_string())
            .collect()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It ends with its input, and removes its shared memory.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn line(output: &mut impl BufRead) -> Value {
    let mut text = String::new();
    output.read_line(&mut text).expect("a line");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

/// A search path that every user can read.
fn path() -> String {
    match rustix::process::geteuid().is_root() {
        true => "/usr/local/bin:/usr/bin:/bin".to_string(),
        false => std::env::var("PATH").expect("PATH"),
    }
}

/// Makes a folder belong to a user, with everything in it.
fn give(folder: &Path, user: User) {
    if rustix::process::geteuid().is_root() {
        let number = if user == User::Ordinary { ORDINARY } else { "0" };
        let owner = format!("{number}:{number}");
        let status = Command::new("chown").args(["-R", &owner]).arg(folder).status().expect("chown");
        assert!(status.success());
    }
}

/// Whether this user can run the programs of the test.
fn is_possible(user: User) -> bool {
    let mut words = prefix(user);
    words.extend([env!("CARGO_BIN_EXE_remand").to_string(), "--version".to_string()]);
    let is_other = user == User::This || rustix::process::geteuid().is_root();
    is_other
        && Command::new(&words[0])
            .args(&words[1..])
            .env("PATH", path())
            .output()
            .is_ok_and(|it| it.status.success())
}

/// Refuses namespaces to everything that a command starts, as containers and some distributions do.
const WITHOUT_NAMESPACES: &str = "for kind in user mnt pid net ipc uts cgroup time; do echo 0 >/proc/sys/user/max_${kind}_namespaces; done; \
                                  exec setpriv --inh-caps=-all --ambient-caps=-all \"$@\"";

/// Lets the engine inherit open files, as it can from a shell.
const WITH_OPEN_FILES: &str = "exec 8<\"$1\" 9<\"$2\"; shift 2; exec \"$@\"";

/// What the probe reports from each place.
struct Reports {
    by_place: Vec<(&'static str, String)>,
    harm: Vec<String>,
}

fn attack(user: User, namespaces: Namespaces) -> Reports {
    let (place, folder) = (Place::new(), victim_folder());
    let path_of = |name: &str| folder.path().join(name);
    let check = format!("[checks.probe]\ncommand = \"{}\"\n", probe_in(folder.path(), None));
    place.write("remand.toml", &format!("{TRIVIAL}\n{check}"));
    place.write(".gitattributes", "*.probed filter=probe\n*.merged merge=probe\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Checks"]);
    for (name, setting, before, after) in [
        ("filter", "filter.probe.clean", "cat >/dev/null; ", "; echo probed"),
        ("driver", "merge.probe.driver", "", "; exit 1"),
    ] {
        let report = path_of("reports").join(name).display().to_string();
        let probe = probe_in(folder.path(), Some(name));
        let script = path_of(&format!("{name}.sh"));
        fs::write(&script, format!("{before}test -e {report} || {probe} >&2{after}")).expect("a script");
        place.git(&["config", setting, &format!("sh {}", script.display())]);
    }
    diverge(&place);
    let hook = place.project().join(".git/hooks/pre-commit");
    fs::write(&hook, format!("#!/bin/sh\nexec {}\n", probe_in(folder.path(), Some("hook")))).expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("the mode");
    let reports = path_of("reports").display().to_string();
    place.add_user_settings(&format!("[sandbox]\nhooks-write = [\"{reports}\"]\n"));
    let work = role("implementer")
        .runs(&probe_in(folder.path(), None))
        .writes("sums/sub.py", SUB)
        .writes("a.probed", "x\n");
    let work = work.writes("tests/test_sub.py", TEST_SUB).says(implemented(""));
    let reviewed =
        role("reviewer").runs(&probe_in(folder.path(), None)).says(review("code", "general", "approve", &[]));
    let script = place.write_outside("rehearsal.yaml", &Script::of([work, reviewed]).text());
    let hidden = place.user_home().join(".ssh/id");
    fs::create_dir(hidden.parent().expect("a folder")).expect("a folder");
    give(place.project().parent().expect("a folder"), user);
    give(folder.path(), user);
    let mut victim = Victim::start(folder.path(), user, &hidden);

    let mut words = prefix(user);
    if namespaces == Namespaces::Refused {
        let unshare =
            ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", WITHOUT_NAMESPACES, "sh"];
        words.extend(unshare.map(String::from));
    }
    let open = [path_of("out"), hidden].map(|path| path.display().to_string());
    words.extend(["sh", "-c", WITH_OPEN_FILES, "sh"].map(String::from).into_iter().chain(open));
    let agent = format!("rehearsal:{script}");
    let run = ["run", REQUEST, "--workflow", "quick", "--agent", &agent];
    let ends_with = |arguments: &[&str], code: i32| {
        let mut command = place.command(arguments);
        command.env("PATH", path());
        let mut command = with_prefix(&command, words.clone());
        let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        victim.expose(folder.path(), started.id());
        let output = started.wait_with_output().expect("an end");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(output.status.code(), Some(code), "{text:?}");
    };
    ends_with(&run, 0);
    let (run, reader) = (place.latest().run, place.reader());
    ends_with(&["land", "diverged"], 10);

    let blob = |id| String::from_utf8_lossy(&reader.blob(id).expect("a blob")).into_owned();
    let mut by_place = Vec::new();
    for row in reader.dispatches(&run).expect("dispatches") {
        let name = if row.role == "reviewer" { "reviewer" } else { "agent" };
        by_place.push((name, blob(row.output.expect("output"))));
    }
    let checks = reader.checks(&run, CheckFilter::default()).expect("checks");
    let probed = checks.iter().filter(|row| row.name == "probe").filter_map(|row| row.output);
    by_place.extend(probed.map(|output| ("check", blob(output))));
    for name in ["hook", "filter", "driver"] {
        by_place.push((name, fs::read_to_string(path_of("reports").join(name)).unwrap_or_default()));
    }
    let harm = victim.harm();
    Reports { by_place, harm }
}

/// Makes a branch whose merge into the main branch needs a merge driver.
fn diverge(place: &Place) {
    place.git(&["checkout", "-q", "-B", "main"]);
    place.git(&["checkout", "-q", "-b", "diverged"]);
    for (branch, text) in [("diverged", "theirs\n"), ("main", "ours\n")] {
        place.git(&["checkout", "-q", branch]);
        place.write("list.merged", text);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", branch]);
    }
}

/// The operations that ended otherwise than expected, and the walls that were open.
fn judge(reports: &Reports, has_namespaces: bool) -> (Vec<String>, BTreeSet<String>) {
    let (mut problems, mut open) = (Vec::new(), BTreeSet::new());
    let mut seen = BTreeSet::new();
    for (place, report) in &reports.by_place {
        let rows: Vec<Vec<&str>> = report
            .lines()
            .map(|line| line.split('\t').collect())
            .filter(|row: &Vec<&str>| row.len() == 4)
            .collect();
        assert!(rows.len() > 380, "{place}: {report}");
        seen.insert(*place);
        for row in rows {
            let is_done = !row[3].starts_with("refused");
            let is_expected = match row[2] {
                "no" => !is_done,
                "gap" => is_done != has_namespaces,
                "own" => !is_done || has_namespaces,
                "hid" => true,
                "may" => is_done,
                "free" => is_done || !has_namespaces,
                other => panic!("{other}"),
            };
            if !is_expected {
                problems.push(format!("{place}: {}", row.join(", ")));
            }
            if row[2] == "gap" && is_done {
                open.insert(row[1].to_string());
            }
        }
    }
    assert_eq!(seen, BTreeSet::from(["agent", "check", "driver", "filter", "hook", "reviewer"]));
    (problems, open)
}

/// Whether a wall of this machine holds.
fn holds(wall: Wall) -> bool {
    let enforced = probe(env!("CARGO_BIN_EXE_remand").as_ref());
    enforced.walls.iter().any(|state| state.wall == wall && state.level == WallLevel::Held)
}

fn everything_is_held(user: User) {
    if !is_possible(user) || !holds(Wall::Visibility) || !holds(Wall::Programs) || !holds(Wall::Sockets) {
        return;
    }
    let reports = attack(user, Namespaces::Native);
    let (problems, open) = judge(&reports, true);
    assert_eq!((problems, open), (Vec::new(), BTreeSet::new()));
    assert_eq!(reports.harm, Vec::<String>::new());
}

fn only_what_the_table_says_is_open(user: User) {
    if !is_possible(user) || !holds(Wall::Programs) || !holds(Wall::Sockets) {
        return;
    }
    let namespaces = if holds(Wall::Visibility) { Namespaces::Refused } else { Namespaces::Native };
    let reports = attack(user, namespaces);
    let (problems, open) = judge(&reports, false);
    assert_eq!(problems, Vec::<String>::new());
    // The probe sees neither what outlives it nor hosts of services.
    let unseen = [Wall::Lifetime, Wall::ProcessNumber, Wall::Hosts].map(Wall::title);
    let text = table();
    let weaker = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let title = cells[0].trim_start_matches("| ");
        (cells.len() == 5 && cells[2].starts_with("weaker") && !unseen.contains(&title)).then_some(title)
    });
    let named = |wall: &str| match wall {
        "metadata" => Wall::Metadata.title(),
        "visibility" => Wall::Visibility.title(),
        other => panic!("the table does not name {other}"),
    };
    assert_eq!(open.iter().map(|wall| named(wall)).collect::<BTreeSet<_>>(), weaker.collect());
    let is_about_a_file = |harm: &&String| harm.starts_with('/');
    assert_eq!(
        reports.harm.iter().filter(|harm| !is_about_a_file(harm)).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

// BX-02 BX-03 BX-04
#[test]
fn every_attack_is_held_from_everywhere() {
    everything_is_held(User::This);
}

// BX-02 BX-03 BX-04
#[test]
fn every_attack_is_held_from_everywhere_for_an_ordinary_user() {
    everything_is_held(User::Ordinary);
}

// BX-06
#[test]
fn without_namespaces_only_what_the_table_says_is_open() {
    only_what_the_table_says_is_open(User::This);
}

// BX-06
#[test]
fn without_namespaces_only_what_the_table_says_is_open_for_an_ordinary_user() {
    only_what_the_table_says_is_open(User::Ordinary);
}
