//! Agent programs that are started once for each dispatch, each by its row.

use super::fill::{Condition, Filling, Name, Part};
use super::row::{Hear, PromptBy, Row, Speech};
use super::signs::{self, Signs};
use super::{Driver, Ear, Heard, Launch, Place, acp, is_refusal};
use crate::confine::programs;
use crate::contract;
use crate::converse;
use crate::process::{Ended, Exit};
use regex::Regex;
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use remand_ledger::fact::Tokens;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a program finds its way out, wherever that leads.
const NETWORK: [&str; 10] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
];

/// Where services and their names are asked for.
const SERVICES: [u16; 2] = [53, 443];

/// A file of settings longer than this is not looked through for addresses.
const SETTINGS: u64 = 1024 * 1024;

/// Drives the program of one row.
#[derive(Clone, Debug)]
pub struct Cli {
    pub name: String,
    pub row: Row,
}

impl Driver for Cli {
    fn name(&self) -> &str {
        &self.name
    }

    fn rules(&self) -> Hear {
        match self.row.speaks {
            Speech::Acp => converse::hear(&self.row.hear),
            Speech::Lines | Speech::Text => self.row.hear.clone(),
        }
    }

    fn launch(&self, place: &Place) -> Launch {
        let row = &self.row;
        let mut filling = self.filling(place);
        let port = row.arguments.iter().any(|part| part.names(Name::Port)).then(free_port).flatten();
        filling.values.extend(port.map(|port| (Name::Port, port.to_string())));
        let mut argv = row.command.clone();
        argv.extend(filling.list(&row.arguments));
        argv.extend(row.more.iter().cloned());
        let names = NETWORK.iter().copied().chain(row.variables.iter().chain(&row.keys).map(String::as_str));
        let mut launch = Launch {
            environment: names.filter_map(|name| Some((name.to_string(), std::env::var_os(name)?))).collect(),
            stdin: match (row.speaks, row.prompt) {
                (Speech::Acp, _) | (_, PromptBy::Stdin) => place.prompt.clone().into_bytes(),
                (Speech::Lines | Speech::Text, PromptBy::Argument) => Vec::new(),
            },
            silence: row.silence.map(Duration::from_secs),
            listens: port.into_iter().collect(),
            ..Launch::default()
        };
        let own = row.environment.iter().map(|(name, parts)| (name.clone(), filling.text(parts).into()));
        launch.environment.extend(own);
        launch.files =
            row.files.iter().map(|(path, parts)| (PathBuf::from(path), filling.text(parts))).collect();
        launch.copies = self
            .copies()
            .into_iter()
            .map(|path| (place.user_home.join(&path), path))
            .filter(|(from, _)| from.is_file())
            .collect();
        launch.reads = row.reads.iter().map(|path| in_home(path, &place.user_home)).collect();
        launch.reads.retain(|path| path.exists());
        if let Some(program) = programs::find(&row.command[0], &place.path) {
            let installed = programs::installation(&program);
            launch.reads.extend(installed.iter().cloned());
            launch.programs.extend(installed);
            launch.programs.push(program);
        }
        launch.programs.push(place.remand.clone());
        launch.ports = ports(row, &launch);
        launch.argv = argv.into_iter().map(OsString::from).collect();
        match row.speaks {
            Speech::Acp => acp::wrap(launch, row, place, &filling),
            Speech::Lines | Speech::Text => launch,
        }
    }

    fn hear(&self, place: &Place, ended: &Ended, ear: &Ear) -> Heard {
        let row = &self.row;
        let (answer, has_ended) = match row.speaks {
            Speech::Text => (ended.stdout.text().into_owned(), true),
            Speech::Lines | Speech::Acp => (ear.answer().unwrap_or_default(), ear.ended),
        };
        let is_over = ended.exit.succeeded() || ended.exit == Exit::Lingered;
        let is_positive = is_over && has_ended && !signs::is_error(row, &answer);
        let trespass: Vec<String> = self.trespasses(ear).iter().map(|text| one_line(text)).collect();
        let failure = if !trespass.is_empty() {
            Some((Failure::Violation, trespass.join("; ")))
        } else if is_positive {
            None
        } else {
            self.ailment(ended, ear, &answer)
        };
        let tokens = self.tokens(place, ear);
        let mut denied: BTreeSet<String> =
            ear.denied.iter().chain(&ear.failed).map(|text| one_line(text)).collect();
        denied.extend(trespass.iter().cloned());
        Heard {
            denied: denied.into_iter().collect(),
            usage: Usage {
                money: self.cost(place, ear),
                tokens: tokens.map(Tokens::all),
                ..Usage::default()
            },
            tokens,
            model: ear.model().or_else(|| place.model.clone()).or_else(|| row.model.clone()),
            session: ear.session(),
            failure,
            answer,
            price: None,
        }
    }

    fn unseen(&self) -> Vec<String> {
        self.row.unseen.clone()
    }

    fn copies(&self) -> Vec<PathBuf> {
        self.row.credentials.iter().chain(&self.row.copies).map(PathBuf::from).collect()
    }

    fn resumes(&self) -> bool {
        self.row.speaks == Speech::Acp || self.row.arguments.iter().any(mentions_session)
    }
}

fn mentions_session(part: &Part) -> bool {
    match part {
        Part::Text(_) => false,
        Part::When(when) => {
            when.condition == Condition::Session
                || when.then.iter().chain(&when.otherwise).any(mentions_session)
        }
    }
}

impl Cli {
    fn filling(&self, place: &Place) -> Filling {
        let model = place.model.as_ref().or(self.row.model.as_ref());
        let session = place.session.as_ref().map(|session| &session.id);
        let holds = [
            (Condition::Write, place.may.write),
            (Condition::Shell, place.may.shell),
            (Condition::Network, place.may.network),
            (Condition::Confined, place.is_confined),
            (Condition::Model, model.is_some()),
            (Condition::Session, session.is_some()),
            (Condition::Key, self.row.has_key()),
        ];
        let path = |path: &Path| path.display().to_string();
        let values = [
            (Name::Model, model.cloned().unwrap_or_default()),
            (Name::Session, session.cloned().unwrap_or_default()),
            (Name::Prompt, place.prompt.clone()),
            (Name::Home, path(&place.home)),
            (Name::Folder, path(&place.folder)),
            (Name::Out, path(&place.out)),
            (Name::Tree, path(&place.tree)),
            (Name::Result, path(&place.result)),
            (Name::Remand, path(&place.remand)),
            (Name::Dispatch, path(&place.about)),
        ];
        Filling {
            holds: holds.into_iter().filter(|(_, holds)| *holds).map(|(condition, _)| condition).collect(),
            values: values.into(),
        }
    }

    /// Changes that it tried and had no right to, as its own rules or the system refused them.
    fn trespasses<'e>(&self, ear: &'e Ear) -> Vec<&'e String> {
        let writers = self.rules().writers;
        let denied = ear.denied.iter().filter(|text| writers.iter().any(|writer| is_word_of(writer, text)));
        denied.chain(&ear.failed_writes).collect()
    }

    /// Why there is no positive end, where that can be told.
    fn ailment(&self, ended: &Ended, ear: &Ear, answer: &str) -> Option<(Failure, String)> {
        // Who did not end by itself may have got over what it once complained of.
        let stderr = match ended.exit {
            Exit::TimedOut | Exit::Silent => ear.muttered.join("\n").into(),
            _ => ended.stderr.text(),
        };
        let signs = Signs { errors: &ear.errors, stderr: &stderr, answer, exit: ended.exit };
        let told = signs::tell(&self.row, signs);
        let told = told.map(|ailment| (ailment.failure(), ailment.detail(&self.row)));
        told.or_else(|| {
            let detail = match ear.errors.last() {
                Some(error) => format!("it ended with an error: {}", contract::clean(error)),
                None => "it ended without saying that it was done".to_string(),
            };
            ended.exit.succeeded().then_some((Failure::Crashed, detail))
        })
    }

    fn cost(&self, place: &Place, ear: &Ear) -> Option<u64> {
        let before = place.session.as_ref().filter(|_| self.row.hear.cumulative_cost);
        let told = Some(ear.cost()?.saturating_sub(before.map_or(0, |session| session.used.money)));
        // Some say nothing of a model whose price they do not know by saying zero.
        told.filter(|money| *money > 0 || ear.output().is_none())
    }

    /// What this dispatch used; of a session that was taken up again, what came to it.
    fn tokens(&self, place: &Place, ear: &Ear) -> Option<Tokens> {
        let (input, output) = (ear.input(), ear.output());
        if input.is_none() && output.is_none() {
            return None;
        }
        let cached = ear.cached().unwrap_or(0);
        let input = input.unwrap_or(0);
        let counted = Tokens {
            input: if self.row.hear.input_has_cached { input.saturating_sub(cached) } else { input },
            output: output.unwrap_or(0),
            cached,
            stored: ear.stored().unwrap_or(0),
        };
        match &place.session {
            Some(session) if self.row.hear.cumulative => Some(counted.since(session.used.tokens)),
            Some(_) | None => Some(counted),
        }
    }
}

/// The line of a text that tells of a refusal, or its first one.
fn one_line(text: &str) -> String {
    let line = text.lines().find(|line| is_refusal(line)).or_else(|| text.lines().next());
    contract::clean(line.unwrap_or_default().trim()).chars().take(300).collect()
}

/// Tells whether a text names a tool, as a word of its own.
fn is_word_of(word: &str, text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word)
}

fn in_home(path: &str, home: &Path) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| home.join(below))
}

/// A port that nobody listens at, at least by now.
fn free_port() -> Option<u16> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).ok()?;
    listener.local_addr().ok().map(|address| address.port())
}

/// The port of all services, those of the row, and those of every address in its settings.
fn ports(row: &Row, launch: &Launch) -> Vec<u16> {
    let mut ports: BTreeSet<u16> = row.ports.iter().copied().chain(SERVICES).collect();
    let Ok(address) = Regex::new(r#"https?://[^/\s"'@]*?(?:@[^/\s"']*?)?(?::([0-9]+))?(?:[/\s"']|$)"#) else {
        return ports.into_iter().collect();
    };
    let mut look = |text: &str| {
        for found in address.captures_iter(text) {
            let port = found.get(1).and_then(|port| port.as_str().parse().ok());
            ports.extend(port.or(found[0].starts_with("http:").then_some(80)));
        }
    };
    launch.environment.values().for_each(|value| look(&value.to_string_lossy()));
    launch.files.iter().for_each(|(_, text)| look(text));
    for (from, _) in &launch.copies {
        if from.metadata().is_ok_and(|found| found.len() <= SETTINGS) {
            look(&String::from_utf8_lossy(&std::fs::read(from).unwrap_or_default()));
        }
    }
    ports.into_iter().collect()
}
