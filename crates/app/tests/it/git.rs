//! Git around a run: hooks, odd names, odd repositories, and agents that call git.

use crate::place::Place;
use crate::rehearsed::{REQUEST, SUB, Script, TEST_SUB, TRIVIAL, implemented, role};
use remand_kernel::evidence::RowPhase;
use remand_kernel::program::Confidence;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::CheckFilter;
use serde_json::json;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn write_hook(place: &Place, name: &str, text: &str) {
    let path = place.project().join(".git/hooks").join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("hook");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
}

// EP-24 CORE-19
#[test]
fn a_hook_that_refuses_leaves_the_work_to_the_user() {
    let place = Place::configured(TRIVIAL);
    write_hook(&place, "pre-commit", "echo no ticket in the branch name >&2; exit 1");
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let notes = place.reader().notes(&run.run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("no ticket in the branch name")), "{notes:?}");
    assert!(shown.out.contains(&format!("git merge --squash {}", run.branch)), "{}", shown.out);
    let message = place.git(&["log", "-1", "--format=%B", &run.branch]);
    assert!(message.contains("Remand-Handed-Over: yes"), "{message}");
    assert!(shown.out.contains("left to you: the hook said: no ticket in the branch name"), "{}", shown.out);
}

// CORE-19
#[test]
fn a_hook_gets_the_variables_that_checks_get() {
    let place = Place::configured(TRIVIAL);
    place.add_user_settings("[sandbox]\nchecks-environment = [\"TICKET\"]\n");
    write_hook(&place, "pre-commit", "echo \"$TICKET with $NODE_OPTIONS, not $OTHER\" >&2; exit 1");
    let script = place.write_outside("hook.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let mut command = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
    command.env("TICKET", "ABC-1").env("NODE_OPTIONS", "--no-warnings").env("OTHER", "other");
    let shown = crate::place::shown(command);
    assert!(shown.out.contains("ABC-1 with --no-warnings, not"), "{}{}", shown.out, shown.err);
    assert!(!shown.out.contains("not other"), "{}", shown.out);
}

// UP-10
#[test]
fn a_hook_may_write_to_its_cache_and_temporary_folder_and_leaves_no_trace_there() {
    let place = Place::configured(TRIVIAL);
    let cache = place.user_home().join(".cache/pre-commit");
    std::fs::create_dir_all(&cache).expect("cache");
    std::fs::write(cache.join("db.db"), "installed\n").expect("cache");
    let hook = "grep -q installed ~/.cache/pre-commit/db.db || { echo not installed >&2; exit 1; }\n\
                echo run >> ~/.cache/pre-commit/db.db && mkdir ~/.cache/pre-commit/patch && touch ~/.hook-state /tmp/hook-state";
    write_hook(&place, "pre-commit", &format!("set -e\n{hook}"));
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(std::fs::read_to_string(cache.join("db.db")).expect("cache"), "installed\n");
    assert!(!place.user_home().join(".hook-state").exists());
}

// UP-10
#[test]
fn doctor_tries_the_hooks_in_the_sandbox_and_leaves_nothing_in_the_repository() {
    let place = Place::configured(TRIVIAL);
    write_hook(&place, "pre-commit", "test -f remand-doctor.txt");
    let references = place.git(&["for-each-ref"]);
    let said = |arguments: &[&str]| {
        let shown = place.remand(arguments);
        shown.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let works = said(&["doctor"]);
    assert!(works.contains("pre-commit: works in the sandbox"), "{works}");
    let outside = place.project().join(".git/store");
    write_hook(&place, "pre-commit", &format!("echo kept > '{}'", outside.display()));
    let unsure = said(&["doctor"]);
    assert!(unsure.contains("a hook refuses a trivial commit in the sandbox"), "{unsure}");
    assert!(!outside.exists(), "a hook ran outside the sandbox, and nobody asked for that");
    let broken = said(&["doctor", "--checks"]);
    assert!(broken.contains("a hook works on this machine, but not in the sandbox"), "{broken}");
    assert!(broken.contains("Read-only file system") && broken.contains("`sandbox.hooks-write`"), "{broken}");
    write_hook(&place, "pre-commit", "echo no ticket >&2; exit 1");
    let refused = said(&["doctor", "--checks"]);
    assert!(refused.contains("refuses a trivial commit, in the sandbox and outside: no ticket"), "{refused}");
    assert_eq!(place.git(&["for-each-ref"]), references);
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
}

// EP-24
#[test]
fn a_run_without_changes_leaves_no_branch() {
    let place = Place::configured(TRIVIAL);
    let script = Script::quick().with(role("implementer").says(implemented("task-1")));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("the run changed nothing"), "{}", shown.out);
    assert_eq!(place.git(&["branch", "--list", &place.latest().branch]), "");
}

// CORE-19 EP-16
#[test]
fn a_hook_that_changes_the_tree_causes_another_verification() {
    let place = Place::configured(TRIVIAL);
    let once = "grep -q formatted sums/sub.py || { printf 'formatted = True\\n' >> sums/sub.py; git add sums/sub.py; }";
    write_hook(&place, "pre-commit", once);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    assert_eq!(
        place.git(&["show", &format!("{}:sums/sub.py", run.branch)]),
        format!("{SUB}formatted = True\n")
    );
    let notes = reader.notes(&run.run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("hook changed the tree")), "{notes:?}");
    let commit = reader.operations(&run.run).expect("operations");
    let commit = commit.iter().find(|row| row.phase == "commit").expect("the commit");
    let rows = reader.journal(&run.run, 0).expect("journal");
    let checked =
        rows.iter().any(|row| row.seq > commit.seq && row.facts.checks.iter().any(|check| check.passed));
    assert!(checked, "it was verified again");
    assert_eq!(place.git(&["rev-list", "--count", &format!("work..{}", run.branch)]).trim(), "1");
}

// CORE-05
#[test]
fn a_hook_that_an_agent_has_written_runs_in_the_sandbox() {
    let place = Place::configured(TRIVIAL);
    place.write("hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    let path = place.project().join("hooks/pre-commit");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "hooks of the project"]);
    place.git(&["config", "core.hooksPath", "hooks"]);
    let config = std::fs::read(place.project().join(".git/config")).expect("config");
    let outside = place.write_outside("outside", "as it was");
    let script = format!(
        "#!/bin/sh\necho taken > '{outside}'\necho x > '{0}/.git/hooks/pre-push'\necho x > '{0}/README.md'\n\
         git config --file '{0}/.git/config' user.name Mallory\nenv | grep REMAND_MARK > ran\ngit add ran\n",
        place.project().display()
    );
    let agent = role("implementer")
        .writes("sums/sub.py", SUB)
        .writes("tests/test_sub.py", TEST_SUB)
        .writes("hooks/pre-commit", &script);
    let shown = place.quick(&Script::quick().with(agent.says(implemented(""))), &[]);
    assert_eq!(std::fs::read_to_string(&outside).expect("outside"), "as it was", "{}", shown.out);
    assert!(!place.project().join(".git/hooks/pre-push").exists());
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(std::fs::read(place.project().join(".git/config")).expect("config"), config);
    let run = place.latest();
    let notes = place.reader().notes(&run.run).expect("notes");
    assert_eq!(shown.code, 0, "{notes:?}{}", shown.err);
    let ran = place.git(&["show", &format!("{}:ran", run.branch)]);
    assert!(ran.contains("REMAND_MARK="), "the hook ran, and its processes are marked: {ran}");
}

// CORE-19 OT-23
#[test]
fn a_hook_finds_installed_dependencies_and_leaves_none_of_them_in_the_tree() {
    let place = Place::configured(TRIVIAL);
    place.write("package.json", "{}\n");
    place.write(".gitignore", "__pycache__/\nnode_modules/\n.venv/\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "a package"]);
    place.write("node_modules/lint/index.js", "ok\n");
    place.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    place.write(".venv/bin/python", "#!/bin/sh\n");
    let checkout = place.project().display().to_string();
    write_hook(
        &place,
        "pre-commit",
        &format!(
            "cat node_modules/lint/index.js '{checkout}/node_modules/lint/index.js' .venv/bin/python \
             '{checkout}/.venv/bin/python' >/dev/null && ! cat '{checkout}/README.md' 2>/dev/null"
        ),
    );
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let tree = place.home().join("trees").join(&place.latest().run.0).join("main");
    assert!(!tree.join("node_modules").exists() && !tree.join(".venv").exists());
}

// CORE-19
#[test]
fn a_hook_writes_where_the_settings_allow_and_a_refusal_names_the_setting() {
    let place = Place::configured(TRIVIAL);
    let cache = place.project().join(".git/cache");
    std::fs::create_dir_all(&cache).expect("a cache");
    write_hook(&place, "pre-commit", &format!("echo kept > '{}/store'", cache.display()));
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("`sandbox.hooks-write`")), "{notes:?}");
    place.add_user_settings(&format!("[sandbox]\nhooks-write = [\"{}\"]\n", cache.display()));
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(std::fs::read_to_string(cache.join("store")).expect("a store"), "kept\n");
}

// CORE-05 EP-30
#[test]
fn a_filter_that_an_agent_has_written_sees_neither_the_home_nor_the_environment_of_the_user() {
    let place = Place::configured(TRIVIAL);
    place.write(".gitattributes", "*.ipynb filter=strip\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "notebooks are stripped"]);
    place.git(&["config", "filter.strip.clean", "python3 -m strip"]);
    let key = place.user_home().join("key");
    std::fs::write(&key, "precious").expect("a key");
    let outside = place.write_outside("outside", "as it was");
    let strip = format!(
        "import os, sys\n\nsys.stdin.read()\n\n\ndef tried(path, mode):\n    try:\n        with open(path, mode) as file:\n            \
         return file.write('taken') if mode == 'w' else file.read()\n    except OSError as error:\n        \
         return 'refused' if error.errno in (1, 13, 30) else error\n\n\nprint('variable', os.environ.get('OF_THE_USER'))\n\
         print('key', tried('{}', 'r'))\nprint('outside', tried('{outside}', 'w'))\n\
         print('itself', tried('strip.py', 'w'))\n",
        key.display()
    );
    let agent = role("implementer")
        .writes("sums/sub.py", SUB)
        .writes("tests/test_sub.py", TEST_SUB)
        .writes("strip.py", &strip)
        .writes("a.ipynb", "{}\n");
    let script = Script::quick().with(agent.says(implemented("")));
    let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
    let mut command = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
    command.env("OF_THE_USER", "precious");
    let shown = crate::place::shown(command);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let stripped = "variable None\nkey refused\noutside refused\nitself refused\n";
    assert_eq!(place.git(&["show", &format!("{}:a.ipynb", run.branch)]), stripped);
    assert_eq!(place.git(&["show", &format!("{}:strip.py", run.branch)]), strip);
    assert_eq!(std::fs::read_to_string(&outside).expect("outside"), "as it was");
}

// CORE-04
#[test]
fn a_run_killed_around_a_hook_that_changes_the_tree_makes_one_commit() {
    let once = "grep -q formatted sums/sub.py || { printf 'formatted = True\\n' >> sums/sub.py; git add sums/sub.py; }";
    let prepared = || {
        let place = Place::configured(TRIVIAL);
        write_hook(&place, "pre-commit", once);
        let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &Script::quick().text()));
        (place, ["run", REQUEST, "--workflow", "quick", "--agent"].map(str::to_string), agent)
    };
    let begin = |point: Option<usize>| {
        let (place, words, agent) = prepared();
        let words: Vec<&str> = words.iter().map(String::as_str).chain([agent.as_str()]).collect();
        let mut command = place.command(&words);
        command.envs(point.map(|point| ("REMAND_DIE_AT", point.to_string())));
        let code = command.output().expect("the binary runs").status.code();
        (place, code)
    };
    let (undisturbed, code) = begin(None);
    assert_eq!(code, Some(0));
    let (reader, run) = (undisturbed.reader(), undisturbed.latest().run);
    let points = reader.journal(&run, 0).expect("journal").len()
        + reader.dispatches(&run).expect("dispatches").len()
        + reader.operations(&run).expect("operations").len();
    // The last kill points are around the commit.
    for point in 2 * points - 6..=2 * points {
        let (place, code) = begin(Some(point));
        assert_eq!(code, None, "killed at {point}");
        let resumed = place.remand(&["resume"]);
        assert_eq!(resumed.code, 0, "killed at {point}: {}{}", resumed.out, resumed.err);
        let branch = place.latest().branch;
        assert_eq!(place.git(&["rev-list", "--count", &format!("work..{branch}")]).trim(), "1");
        assert!(place.git(&["show", &format!("{branch}:sums/sub.py")]).contains("formatted"));
    }
}

// CORE-19 CORE-05
#[test]
fn git_commands_of_agents_have_no_effect() {
    let place = Place::configured(TRIVIAL);
    let remote = place.write_outside("remote.git", "");
    std::fs::remove_file(&remote).expect("removed");
    place.git(&["init", "-q", "--bare", &remote]);
    place.git(&["remote", "add", "origin", &remote]);
    let refs = place.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]);
    let config = std::fs::read(place.project().join(".git/config")).expect("config");
    let mut agent = role("implementer")
        .attempt(1)
        .ignoring_failures()
        .writes("sums/sub.py", SUB)
        .writes("tests/test_sub.py", TEST_SUB);
    let project = place.project().display().to_string();
    for command in [
        "git add -A && git commit -qm mine",
        "git push origin HEAD:main",
        "git config user.name Mallory",
        "git tag mine",
        "git branch mine",
        "git stash",
    ] {
        agent = agent.runs(command).runs(&format!("cd '{project}' && {command}"));
    }
    let shown = place.quick(&Script::quick().with(agent.says(implemented(""))), &[]);
    assert_eq!(place.git(&["ls-remote", &remote]), "", "{}{}", shown.out, shown.err);
    assert_eq!(std::fs::read(place.project().join(".git/config")).expect("config"), config);
    let after =
        place.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags/mine"]);
    let after: Vec<&str> = after.lines().filter(|line| !line.starts_with("refs/heads/remand/")).collect();
    assert_eq!(after.join("\n"), refs.trim_end());
    let run = place.latest();
    let author = place.git(&["log", "--format=%an", &format!("work..{}", run.branch)]);
    assert_eq!(author, "A User\n", "{}{}", shown.out, shown.err);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

// CORE-09
#[test]
fn odd_file_names_come_through_unharmed() {
    let place = Place::configured(TRIVIAL);
    let script = Script::quick().with(
        role("implementer")
            .writes("sums/sub.py", SUB)
            .writes("two words.txt", "a\n")
            .writes("größe 大小.txt", "b\n")
            .writes("-dash.txt", "c\n")
            .writes("\"quoted\" `x`.txt", "d\n")
            .does(json!({"symlink": {"path": "link", "target": "two words.txt"}}))
            .says(implemented("")),
    );
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let names = place.git(&["-c", "core.quotePath=false", "diff", "--name-only", "work", &run.branch]);
    for name in ["two words.txt", "größe 大小.txt", "-dash.txt", "\"\\\"quoted\\\" `x`.txt\"", "link"] {
        assert!(names.lines().any(|line| line == name), "{name}: {names}");
    }
    assert_eq!(place.git(&["ls-tree", &run.branch, "link"]).split(' ').next(), Some("120000"));
    let bundle = place.remand(&["evidence"]);
    assert_eq!(bundle.code, 0, "{}", bundle.err);
    assert!(bundle.out.contains("two words.txt"), "{}", bundle.out);
}

// BX-07
#[test]
fn file_names_and_links_that_mislead_are_refused_by_name() {
    let place = Place::configured(TRIVIAL);
    let script = Script::quick().with(
        role("implementer")
            .writes("sums/sub.py", SUB)
            .writes("new\nline.txt", "b\n")
            .runs("printf e > \"$(printf 'caf\\351.txt')\"")
            .does(json!({"symlink": {"path": "link", "target": "/etc/passwd"}}))
            .says(implemented("")),
    );
    let shown = place.quick(&script, &[]);
    assert_ne!(shown.code, 0, "{}{}", shown.out, shown.err);
    let claims: Vec<String> = place
        .reader()
        .findings(&place.latest().run)
        .expect("findings")
        .into_iter()
        .map(|finding| finding.claim)
        .collect();
    for claim in [
        "the name `caf\\xe9.txt` is not UTF-8",
        "the name `new\\u{a}line.txt` contains a character that is not visible (U+000A)",
        "the link `link` to `/etc/passwd` is absolute: it leads elsewhere on another machine",
    ] {
        assert!(claims.iter().any(|found| found == claim), "{claim}: {claims:?}");
    }
}

/// Three checks; one needs the submodule `library`.
const CHECKS_WITH_LIBRARY: &str = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n\
                       [checks.build]\ncommand = \"test -f library/sums/add.py\"\n\n\
                       [checks.more]\ncommand = \"test -f sums/add.py\"\n";

/// A project with another one as the submodule `library`.
fn place_with_library(settings: &str) -> Place {
    let (place, library) = (Place::configured(settings), Place::new());
    let path = library.project().display().to_string();
    place.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &path, "library"]);
    place.git(&["commit", "-q", "-m", "A submodule"]);
    place
}

/// Whether the latest run has a note of this kind that contains these words.
fn has_note(place: &Place, kind: NoteKind, words: &str) -> bool {
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    notes.iter().any(|note| note.kind == kind && note.text.contains(words))
}

// EP-27 CORE-09
#[test]
fn a_submodule_is_available_to_checks_and_stays_unchanged() {
    let place = place_with_library(CHECKS_WITH_LIBRARY);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().confidence_level(), Confidence::High, "{}{}", shown.out, shown.err);
    let branch = place.latest().branch;
    assert_eq!(place.git(&["diff", "--name-only", "work", &branch]), "sums/sub.py\ntests/test_sub.py\n");
    assert_eq!(place.git(&["ls-tree", &branch, "library"]).split(' ').next(), Some("160000"));
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

// CORE-05
#[test]
fn an_agent_that_changes_a_submodule_fails_and_build_leftovers_there_are_removed() {
    let place = place_with_library(CHECKS_WITH_LIBRARY);
    let work = || role("implementer").writes("sums/sub.py", SUB).writes("tests/test_sub.py", TEST_SUB);
    let script = Script::quick()
        .with(work().runs("mkdir -p library/out; touch library/out/a.o").says(implemented("")))
        .with(work().attempt(1).writes("library/sums/add.py", "pass\n").says(implemented("")));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(has_note(&place, NoteKind::Violation, "library/sums/add.py"), "{}", shown.err);
    assert!(
        has_note(&place, NoteKind::Warning, "library/out (in a submodule); this was undone"),
        "{}",
        shown.err
    );
    let main = place.home().join("trees").join(&place.latest().run.0).join("main/library");
    assert!(!main.join("out").exists());
    assert!(std::fs::read_to_string(main.join("sums/add.py")).expect("a file").contains("return a + b"));
}

// EP-27 EP-32 EP-18
#[test]
fn a_missing_submodule_and_a_check_that_fails_before_and_after_cost_confidence() {
    let place = place_with_library(CHECKS_WITH_LIBRARY);
    place.git(&["submodule", "--quiet", "deinit", "library"]);
    std::fs::remove_dir_all(place.project().join(".git/modules")).expect("removed");
    let shown = place.quick(&Script::quick(), &["--autonomous"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().confidence_level(), Confidence::Medium, "{}{}", shown.out, shown.err);
    assert!(has_note(&place, NoteKind::Degradation, "stay empty in the run's work trees: library"));
    assert!(has_note(&place, NoteKind::Degradation, "`build` also failed before the change"));
    let bundle = place.remand(&["evidence"]).out;
    assert!(
        !bundle.contains("Nothing was degraded")
            && bundle.contains("- 'build' also failed before the change"),
        "{bundle}"
    );

    let asked = place.feature(&Script::subtraction(), &["--interactive"]);
    assert_eq!(asked.code, 5, "{}{}", asked.out, asked.err);
    let gates = place.remand(&["gates"]).out;
    assert!(gates.contains("stay empty in the run's work trees: library"), "{gates}");
}

// EP-18 EP-32
#[test]
fn a_check_that_failed_before_any_change_and_passes_after_it_costs_nothing() {
    let place = Place::configured(&format!("{TRIVIAL}\n[checks.fixed]\ncommand = \"test -f sums/sub.py\"\n"));
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().confidence_level(), Confidence::High);
}

// EP-02 CORE-09
#[test]
fn a_run_in_a_sparse_checkout_gives_a_warning() {
    let place = Place::configured(TRIVIAL);
    place.git(&["sparse-checkout", "set", "--cone", "sums"]);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(has_note(&place, NoteKind::Warning, "sparse"));
    let branch = place.latest().branch;
    let names = place.git(&["diff", "--name-only", "work", &branch]);
    assert_eq!(names, "sums/sub.py\ntests/test_sub.py\n", "files that are not checked out are not deleted");
}

// EP-02 OT-23
#[test]
fn checks_come_from_the_commit_whatever_is_checked_out_or_uncommitted() {
    let place = Place::new();
    place.git(&["rm", "-q", "-r", "pyproject.toml", "tests"]);
    place.write("lib/pyproject.toml", "[project]\nname = \"lib\"\nversion = \"0.1.0\"\n");
    place.write(
        "lib/test_lib.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_t(self):\n        pass\n",
    );
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A library"]);
    let checks = |place: &Place| -> Vec<String> {
        let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
        assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
        let rows = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("rows");
        rows.into_iter().filter(|row| row.phase == RowPhase::Baseline).map(|row| row.name).collect()
    };
    let plain = checks(&place);
    assert!(plain.iter().any(|name| name.ends_with(":lib")), "{plain:?}");

    place.write("pyproject.toml", "[project]\nname = \"all\"\n");
    place.write("sums/pyproject.toml", "[project]\nname = \"sums\"\n");
    place.git(&["add", "sums/pyproject.toml"]);
    assert_eq!(checks(&place), plain, "uncommitted files are not part of the run");
    place.git(&["reset", "-q", "--hard"]);
    std::fs::remove_file(place.project().join("pyproject.toml")).expect("removed");

    place.git(&["sparse-checkout", "set", "--cone", "sums"]);
    assert!(!place.project().join("lib").exists());
    assert_eq!(checks(&place), plain, "files that are not checked out are part of the run");
}

// CORE-09
#[test]
fn a_base_that_no_run_can_start_from_is_refused_with_a_remedy() {
    let place = Place::configured(TRIVIAL);
    let empty = place.write_outside("empty", "");
    std::fs::remove_file(&empty).expect("removed");
    place.git(&["init", "-q", &empty]);
    let script = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let refused = |arguments: &[&str]| {
        let shown = place.remand(arguments);
        assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
        assert!(shown.err.contains("error: ") && shown.err.contains("hint: "), "{}", shown.err);
        shown.err
    };
    assert!(refused(&["-C", &empty, "run", REQUEST, "--agent", &agent]).contains("commit"));
    assert!(refused(&["-C", "/", "run", REQUEST, "--agent", &agent]).contains("repository"));
    assert!(refused(&["run", REQUEST, "--agent", "nobody"]).contains("nobody"));
    assert!(refused(&["run", REQUEST, "--agent", "rehearsal:/no/such/file"]).contains("/no/such/file"));
    let bad = place.write_outside("bad.yaml", "rehearsal: 1\ndispatches:\n- role: x\n  does: []\n");
    let said = refused(&["run", REQUEST, "--agent", &format!("rehearsal:{bad}")]);
    assert!(said.contains("bad.yaml") && said.contains('4'), "{said}");
    place.write("remand.toml", "[checks]\ndetekt = false\n");
    let said = refused(&["run", REQUEST, "--agent", &agent]);
    assert!(said.contains("remand.toml:2:1") && said.contains("detect"), "{said}");
}

// OT-21
#[test]
fn a_run_starts_in_the_work_trees_of_a_finished_one() {
    let place = Place::configured(TRIVIAL);
    let tree = |place: &Place| place.home().join("trees").join(&place.latest().run.0).join("main");
    let untouched = |place: &Place| std::fs::metadata(tree(place).join("sums/add.py")).expect("a file").ino();
    let first = place.quick(&Script::quick(), &[]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    let before = (place.latest().run, untouched(&place));
    std::fs::write(tree(&place).join("left.pyc"), "of the first run").expect("a file");

    let waiting = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);

    assert_eq!(waiting.code, 5, "{}{}", waiting.out, waiting.err);
    let second = (place.latest().run, untouched(&place));
    assert!(second.0 != before.0 && second.1 == before.1, "the file was not checked out again");
    assert!(!tree(&place).join("left.pyc").exists());
    let third = place.quick(&Script::quick(), &[]);
    assert_eq!(third.code, 0, "{}{}", third.out, third.err);
    assert!(untouched(&place) != before.1, "another run does not use the trees of a waiting run");
    let shown = place.remand(&["answer", &second.0.0, "go-on"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.git(&["branch", "--list", "remand/*"]).lines().count(), 3);
    assert_eq!(std::fs::read_dir(place.home().join("trees")).expect("trees").count(), 2);
    assert_eq!(place.remand(&["clean"]).code, 0);
    assert_eq!(std::fs::read_dir(place.home().join("trees")).expect("trees").count(), 0);
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
}
