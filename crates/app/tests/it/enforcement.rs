//! Attacks of agents on their environment, in whole runs: none succeeds, each is recorded, good work gets through.

use crate::place::Place;
use crate::rehearsed::{Entry, SUB, Script, TRIVIAL, implemented, review, role};
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{CheckFilter, CheckRow, DispatchRow, NoteRow};

/// The dispatches and notes of a run in the ledger.
struct RunRecord {
    dispatches: Vec<DispatchRow>,
    notes: Vec<NoteRow>,
}

impl RunRecord {
    fn says(&self, kind: NoteKind, text: &str) -> bool {
        self.notes.iter().any(|note| note.kind == kind && note.text.contains(text))
    }
}

/// A run in which the first implementer attacks, and the second one does the work.
fn run_attack(place: &Place, attack: Entry) -> RunRecord {
    let script = Script::quick().with(attack.writes("sums/sub.py", SUB).says(implemented("")));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    record(place)
}

fn record(place: &Place) -> RunRecord {
    let (run, reader) = (place.latest().run, place.reader());
    RunRecord {
        dispatches: reader.dispatches(&run).expect("dispatches"),
        notes: reader.notes(&run).expect("notes"),
    }
}

fn attacker() -> Entry {
    role("implementer").attempt(1).ignoring_failures()
}

fn output_of(place: &Place, row: &DispatchRow) -> String {
    let output = place.reader().blob(row.output.expect("output")).expect("blob");
    String::from_utf8_lossy(&output).into_owned()
}

// CORE-05 EP-30
#[test]
fn an_agent_finds_neither_the_keys_of_the_user_nor_the_checkout() {
    let place = Place::configured(TRIVIAL);
    let home = place.state().with_file_name("home");
    for file in [".ssh/id", ".aws/credentials", ".netrc", ".cargo/credentials.toml", ".config/gh/hosts.yml"] {
        let file = home.join(file);
        std::fs::create_dir_all(file.parent().expect("parent")).expect("folder");
        std::fs::write(file, "precious-key").expect("key");
    }
    let (home, checkout) = (home.display(), place.project().display().to_string());
    let mut attack = attacker();
    for look in [
        format!("cat {home}/.ssh/id {home}/.aws/credentials {home}/.netrc"),
        format!("cat {home}/.cargo/credentials.toml {home}/.config/gh/hosts.yml"),
        format!("ls {home} {home}/.ssh"),
        format!("cat {checkout}/remand.toml {checkout}/.git/config; ls {checkout}"),
        "cat /proc/$PPID/../1/environ; cat /proc/*/environ | tr '\\0' '\\n' | grep REMAND_STATE_DIR"
            .to_string(),
        "env | grep -E 'EMAIL|GIT_' && echo leaked-environment".to_string(),
    ] {
        attack = attack.runs(&look);
    }
    let record = run_attack(&place, attack);
    let output = output_of(&place, &record.dispatches[0]);
    let leaks = |line: &&str| {
        ["precious-key", "detect = false", "leaked-environment", "id", "sums"].contains(line)
            || line.starts_with("REMAND_STATE_DIR=")
            || line.contains("repositoryformatversion")
    };
    assert_eq!(output.lines().find(leaks), None, "{output}");
    assert_eq!(record.dispatches[0].failure.as_deref(), Some("violation"));
}

// CORE-05
#[test]
fn an_agent_that_replaces_the_git_file_of_its_tree_is_reported_and_its_dispatch_fails() {
    let place = Place::configured(TRIVIAL);
    let record = run_attack(
        &place,
        attacker().runs("rm .git && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit"),
    );
    assert_eq!(record.dispatches[0].failure.as_deref(), Some("violation"));
    let note = record.notes.iter().find(|note| note.kind == NoteKind::Violation).expect("a violation");
    assert_eq!(note.files, [".git"]);
    let diff = place.reader().blob(note.blob.expect("the diff")).expect("blob");
    assert!(String::from_utf8_lossy(&diff).contains("-gitdir: "));
    assert_eq!(place.git(&["show", &format!("{}:sums/sub.py", place.latest().branch)]), SUB);
}

// CORE-05
#[test]
fn pipes_links_and_privileged_files_fail_the_dispatch_and_are_removed() {
    let place = Place::configured(TRIVIAL);
    let plant = "mkfifo sums/pipe; ln README.md sums/twin; cp /bin/true sums/su; chmod 4755 sums/su";
    let record = run_attack(&place, attacker().runs(plant));
    let note = record.notes.iter().find(|note| note.kind == NoteKind::Violation).expect("a violation");
    for odd in ["README.md", "sums/pipe", "sums/su", "sums/twin"] {
        assert!(note.files.iter().any(|file| file == odd), "{odd}: {:?}", note.files);
    }
    let tree = place.git(&["ls-tree", "-r", "--name-only", &place.latest().branch]);
    assert!(!tree.contains("sums/su\n") && !tree.contains("twin"), "{tree}");
}

// CORE-05
#[test]
fn ignored_files_of_an_author_reach_no_reviewer() {
    let place = Place::configured(TRIVIAL);
    let look = role("reviewer").runs("ls sums/__pycache__ && echo planted-file-is-there");
    let script = Script::quick()
        .with(
            role("implementer")
                .writes("sums/sub.py", SUB)
                .writes("sums/__pycache__/planted.pyc", "owned")
                .says(implemented("")),
        )
        .with(look.says(review("code", "general", "approve", &[])));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let record = record(&place);
    let reviewer = record.dispatches.iter().find(|row| row.role == "reviewer").expect("a reviewer");
    let output = output_of(&place, reviewer);
    assert!(!output.contains("planted-file-is-there\n") || output.contains("No such file"), "{output}");
}

// CORE-19 OT-05
#[test]
fn a_refused_git_command_is_recorded_and_does_not_fail_the_dispatch() {
    let place = Place::configured(TRIVIAL);
    let record = run_attack(
        &place,
        attacker().runs("git commit -m own || true").runs("/usr/bin/env git stash list | head -1"),
    );
    assert!(
        record.says(NoteKind::Warning, "tried to run git commit -m own; git stash list"),
        "{:?}",
        record.notes
    );
    assert_eq!(record.dispatches[0].failure, None);
}

// UP-02
#[test]
fn git_answers_a_build_that_asks_for_the_commit_and_the_files_and_shows_no_history() {
    let place = Place::configured(TRIVIAL);
    let head = place.git(&["rev-parse", "HEAD"]);
    let asks = format!(
        "test $(git rev-parse HEAD) = {} && git status --porcelain && cd sums && git ls-files | grep -q add.py && \
         test $(git rev-list --count HEAD) = 1 && ! git show HEAD:sums/add.py 2>/dev/null",
        head.trim()
    );
    let record = run_attack(&place, attacker().runs(&asks));
    assert_eq!(record.dispatches[0].failure, None, "{}", output_of(&place, &record.dispatches[0]));
    assert!(!output_of(&place, &record.dispatches[0]).contains("exit 1"));
}

// UP-02
#[test]
fn git_works_in_folders_that_are_not_of_the_run() {
    let place = Place::configured(TRIVIAL);
    let own = "d=$(mktemp -d) && git init -q $d && cd $d && git config user.name A && git config user.email a@example.org && \
               touch x && git add x && git commit -qm x && git -C $d log --oneline | grep -q x && git --version";
    let record = run_attack(
        &place,
        attacker().runs(own).runs("git init sub || true").runs("cd sums && git -C .. add . || true"),
    );
    assert!(
        record.says(NoteKind::Warning, "tried to run git init sub; git -C .. add .; it"),
        "{:?}",
        record.notes
    );
    assert_eq!(record.dispatches[0].failure, None, "{}", output_of(&place, &record.dispatches[0]));
}

// BX-02 BX-05
#[test]
fn hosts_that_an_agent_may_not_reach_are_in_the_evidence_and_do_not_fail_the_dispatch() {
    let place = Place::configured(TRIVIAL);
    let python = |call: &str| format!("python3 -c 'import socket as s; {call}' 2>/dev/null || true");
    let record = run_attack(
        &place,
        attacker()
            .runs("curl -sS -m 5 https://named.invalid/ 2>/dev/null || true")
            .runs(&python("s.create_connection((\"192.0.2.1\", 443), 2)"))
            .runs(&python("s.socket(2, 2).sendto(b\"x\", (\"192.0.2.2\", 99))"))
            .runs(&python("s.socket().sendto(b\"x\", 0x20000000, (\"192.0.2.3\", 80))")),
    );
    let says =
        "tried to reach 192.0.2.1:443 (TCP), 192.0.2.2:99 (UDP), 192.0.2.3:80 (TCP), named.invalid, which";
    assert!(record.says(NoteKind::Warning, says), "{:?}", record.notes);
    assert_eq!(record.dispatches[0].failure, None);
    assert!(place.remand(&["evidence"]).out.contains("named.invalid"));
}

// BX-05
#[test]
fn hosts_that_checks_and_programs_of_git_ask_for_are_in_the_evidence() {
    let place = Place::new();
    let ask = |host: &str| format!("curl -sS -m 5 https://{host}/ 2>/dev/null || true");
    place.write("remand.toml", &format!("{TRIVIAL}\n[checks.ask]\ncommand = \"{}\"\n", ask("check.invalid")));
    place.write(".gitattributes", "*.asked filter=ask\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Checks"]);
    place.git(&["config", "filter.ask.clean", &format!("cat; {}", ask("filter.invalid"))]);
    let hook = place.project().join(".git/hooks/pre-commit");
    std::fs::write(&hook, format!("#!/bin/sh\n{}\n", ask("hook.invalid"))).expect("a hook");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("the mode");
    let work = role("implementer").writes("sums/sub.py", SUB).writes("a.asked", "x\n").says(implemented(""));
    let shown = place.quick(&Script::quick().with(work), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (record, evidence) = (record(&place), place.remand(&["evidence"]).out);
    for (program, host) in [
        ("the check `ask`", "check.invalid"),
        ("a hook", "hook.invalid"),
        ("a filter or merge driver", "filter.invalid"),
    ] {
        let says = format!("{program} tried to reach {host}, which is not allowed");
        assert!(record.says(NoteKind::Warning, &says), "{says}: {:?}", record.notes);
        let program = program.replace('`', "'");
        assert!(evidence.contains(&format!("| {host} | {program} | ")), "{evidence}");
    }
}

// CORE-05 CORE-17
#[test]
fn an_exceeded_limit_is_named_and_fails_the_dispatch() {
    let place = Place::configured(&format!("[sandbox]\nprocesses = 20\n\n{TRIVIAL}"));
    let bomb =
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sh -c 'sleep 1000 & sleep 1000' & done; wait";
    let record = run_attack(&place, attacker().runs(bomb));
    assert_eq!(record.dispatches[0].failure.as_deref(), Some("crashed"));
    let detail = record.dispatches[0].detail.clone().unwrap_or_default();
    assert!(detail.contains("sandbox.processes"), "{detail}");
    assert!(record.says(NoteKind::Warning, "sandbox.processes"), "{:?}", record.notes);
}

// CORE-05 EP-30
#[test]
fn a_check_reads_no_credentials_of_git() {
    let place = Place::new();
    let (home, project) = (place.user_home(), place.project());
    std::fs::create_dir_all(home.join(".config/git")).expect("folder");
    for (file, text) in [
        (".git-credentials", "https://ada:hunter2-Zq81@example.org\n"),
        (".config/git/credentials", "https://ada:hunter2-Zq81@example.org\n"),
        (".config/git/config", "[core]\n\tpager = cat\n"),
    ] {
        std::fs::write(home.join(file), text).expect("file");
    }
    place.git(&["remote", "add", "origin", "https://ada:hunter2-Zq81@example.org/sums.git"]);
    let config = project.join(".git/config").display().to_string();
    let spy = format!(
        "cat ~/.config/git/config && for f in ~/.git-credentials ~/.config/git/credentials {config}; do \
         if grep . $f; then exit 1; fi; done"
    );
    place.write("remand.toml", &format!("{TRIVIAL}\n[checks.spy]\ncommand = {spy:?}\n"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A check"]);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
    let spied: Vec<&CheckRow> = rows.iter().filter(|row| row.name == "spy").collect();
    assert!(!spied.is_empty() && spied.iter().all(|row| row.passed), "{spied:#?}");
    assert!(
        record(&place).says(NoteKind::Warning, "config contains credentials"),
        "{:?}",
        record(&place).notes
    );
}

// OT-05
#[test]
fn a_role_without_a_shell_runs_no_command_and_still_reports() {
    let place = Place::new();
    let shipped = std::fs::read_to_string(crate::root().join("roles/reviewer.md")).expect("the role");
    let quiet = shipped.replace("result: review-findings", "result: review-findings\nshell: false");
    assert_ne!(quiet, shipped);
    place.write(".remand/roles/reviewer.md", &quiet);
    place.write("remand.toml", TRIVIAL);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A role"]);
    let busy = role("reviewer").attempt(1).ignoring_failures().runs("echo ran-a-command");
    let script = Script::quick().with(busy.says(review("code", "general", "approve", &[])));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let record = record(&place);
    let reviewers: Vec<&DispatchRow> =
        record.dispatches.iter().filter(|row| row.role == "reviewer").collect();
    assert!(
        !output_of(&place, reviewers[0]).contains("\nran-a-command\n"),
        "{:?}",
        output_of(&place, reviewers[0])
    );
    assert_eq!(reviewers[0].failure.as_deref(), Some("violation"));
    assert_eq!((reviewers.len(), reviewers[1].failure.as_deref()), (2, None));
}

// CORE-05
#[test]
fn a_dispatch_fails_if_its_agent_runs_remand() {
    let place = Place::configured(TRIVIAL);
    let answer = format!("{} answer latest proceed", env!("CARGO_BIN_EXE_remand"));
    let record = run_attack(&place, attacker().runs(&answer));
    assert_eq!(record.dispatches[0].failure.as_deref(), Some("violation"));
    assert!(record.says(NoteKind::Violation, "agents cannot run remand"), "{:?}", record.notes);
}

// CORE-05
#[test]
fn a_run_that_requires_a_sandbox_is_refused_on_a_machine_without_it() {
    let place = Place::configured(&format!("[sandbox]\nrequired = true\n\n{TRIVIAL}"));
    let shown = place.quick(&Script::quick(), &[]);
    match remand_process::confine::probe(env!("CARGO_BIN_EXE_remand").as_ref()).absent().is_empty() {
        true => assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err),
        false => assert!(shown.err.contains("the sandbox is required"), "{}", shown.err),
    }
}
