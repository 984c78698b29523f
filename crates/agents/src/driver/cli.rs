//! Drives an agent program according to its row. The program is started once for each dispatch.

use super::diagnosis::{self, Symptoms};
use super::row::{AgentProtocol, AgentRow, PromptBy};
use super::template::{LaunchCondition, Placeholder, Template, TemplateValues};
use super::{AgentReport, DispatchContext, Driver, Launch, acp, services};
use crate::converse;
use crate::output::{OutputReader, OutputRules, is_denial};
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use remand_ledger::fact::TokenCounts;
use remand_process::confine::{PROXY_VARIABLES, programs};
use remand_process::{Exit, JobEnd};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Variables for certificates, which every program may need.
const CERTIFICATE_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];

/// Drives the program of one row.
#[derive(Clone, Debug)]
pub struct CliDriver {
    pub name: String,
    pub row: AgentRow,
}

impl Driver for CliDriver {
    fn name(&self) -> &str {
        &self.name
    }

    fn output_rules(&self) -> OutputRules {
        match self.row.speaks {
            AgentProtocol::Acp => converse::output_rules(&self.row.output_rules),
            AgentProtocol::Lines | AgentProtocol::Text => self.row.output_rules.clone(),
        }
    }

    fn launch(&self, context: &DispatchContext) -> Launch {
        let row = &self.row;
        let mut template_values = self.template_values(context);
        let port =
            row.arguments.iter().any(|part| part.contains(Placeholder::Port)).then(free_port).flatten();
        template_values.values.extend(port.map(|port| (Placeholder::Port, port.to_string())));
        let mut argv = row.command.clone();
        argv.extend(template_values.fill_list(&row.arguments));
        argv.extend(row.more.iter().cloned());
        let names = PROXY_VARIABLES
            .into_iter()
            .chain(CERTIFICATE_VARIABLES)
            .chain(row.variables.iter().chain(&row.keys).map(String::as_str));
        let mut launch = Launch {
            environment: names.filter_map(|name| Some((name.to_string(), std::env::var_os(name)?))).collect(),
            stdin: match (row.speaks, row.prompt) {
                (AgentProtocol::Acp, _) | (_, PromptBy::Stdin) => context.prompt.clone().into_bytes(),
                (AgentProtocol::Lines | AgentProtocol::Text, PromptBy::Argument) => Vec::new(),
            },
            silence: row.silence.map(Duration::from_secs),
            listens: port.into_iter().collect(),
            ..Launch::default()
        };
        let row_variables = row
            .environment
            .iter()
            .map(|(name, parts)| (name.clone(), template_values.fill_text(parts).into()));
        launch.environment.extend(row_variables);
        launch.files = row
            .files
            .iter()
            .map(|(path, parts)| (PathBuf::from(path), template_values.fill_text(parts)))
            .collect();
        launch.copies = self
            .copies()
            .into_iter()
            .map(|path| (context.user_home.join(&path), path))
            .filter(|(from, _)| from.is_file())
            .collect();
        launch.reads = row.reads.iter().map(|path| expand_home(path, &context.user_home)).collect();
        launch.reads.retain(|path| path.exists());
        if let Some(program) = programs::find(&row.command[0], &context.path) {
            let installed = programs::installation_folder(&program);
            launch.reads.extend(installed.iter().cloned());
            launch.programs.extend(installed);
            launch.programs.push(program);
        }
        launch.programs.push(context.remand.clone());
        launch.services = services::of(row, &launch);
        launch.argv = argv.into_iter().map(OsString::from).collect();
        match row.speaks {
            AgentProtocol::Acp => acp::wrap(launch, row, context, &template_values),
            AgentProtocol::Lines | AgentProtocol::Text => launch,
        }
    }

    fn interpret(&self, context: &DispatchContext, ended: &JobEnd, reader: &OutputReader) -> AgentReport {
        let row = &self.row;
        let (answer, has_ended) = match row.speaks {
            AgentProtocol::Text => (ended.stdout.text().into_owned(), true),
            AgentProtocol::Lines | AgentProtocol::Acp => (reader.answer().unwrap_or_default(), reader.ended),
        };
        let exited_well = ended.exit.succeeded() || ended.exit == Exit::Lingered;
        let has_finished = exited_well && has_ended && !diagnosis::is_error_message(row, &answer);
        let trespasses: Vec<String> = self.trespasses(reader).iter().map(|text| one_line(text)).collect();
        let failure = if !trespasses.is_empty() {
            Some((Failure::Violation, trespasses.join("; ")))
        } else if has_finished {
            None
        } else {
            self.diagnose(ended, reader, &answer)
        };
        let tokens = self.tokens(context, reader);
        let mut denied: BTreeSet<String> =
            reader.denied.iter().chain(&reader.failed).map(|text| one_line(text)).collect();
        denied.extend(trespasses.iter().cloned());
        AgentReport {
            denied: denied.into_iter().collect(),
            usage: Usage {
                money: self.cost(context, reader),
                tokens: tokens.map(TokenCounts::total),
                ..Usage::default()
            },
            tokens,
            model: reader.model().or_else(|| context.model.clone()).or_else(|| row.model.clone()),
            session: reader.session(),
            failure,
            answer,
            price: None,
        }
    }

    fn unseen(&self) -> Vec<String> {
        self.row.unseen.clone()
    }

    fn own_commands(&self) -> Option<&str> {
        self.row.own_commands.as_deref()
    }

    fn copies(&self) -> Vec<PathBuf> {
        self.row.credentials.iter().chain(&self.row.copies).map(PathBuf::from).collect()
    }

    fn resumes(&self) -> bool {
        self.row.speaks == AgentProtocol::Acp || self.row.arguments.iter().any(mentions_session)
    }
}

fn mentions_session(part: &Template) -> bool {
    match part {
        Template::Text(_) => false,
        Template::When(when) => {
            when.condition == LaunchCondition::Session
                || when.then.iter().chain(&when.otherwise).any(mentions_session)
        }
    }
}

impl CliDriver {
    fn template_values(&self, context: &DispatchContext) -> TemplateValues {
        let model = context.model.as_ref().or(self.row.model.as_ref());
        let session = context.session.as_ref().map(|session| &session.id);
        let conditions = [
            (LaunchCondition::Write, context.permissions.write),
            (LaunchCondition::Shell, context.permissions.shell),
            (LaunchCondition::Network, context.permissions.network),
            (LaunchCondition::Confined, context.is_confined),
            (LaunchCondition::Model, model.is_some()),
            (LaunchCondition::Session, session.is_some()),
            (LaunchCondition::Key, self.row.has_key()),
        ];
        let path = |path: &Path| path.display().to_string();
        let values = [
            (Placeholder::Model, model.cloned().unwrap_or_default()),
            (Placeholder::Session, session.cloned().unwrap_or_default()),
            (Placeholder::Prompt, context.prompt.clone()),
            (Placeholder::Home, path(&context.home)),
            (Placeholder::Folder, path(&context.folder)),
            (Placeholder::Out, path(&context.out)),
            (Placeholder::Tree, path(&context.tree)),
            (Placeholder::Result, path(&context.result)),
            (Placeholder::Remand, path(&context.remand)),
            (Placeholder::Dispatch, path(&context.about)),
        ];
        TemplateValues {
            true_conditions: conditions
                .into_iter()
                .filter(|(_, holds)| *holds)
                .map(|(condition, _)| condition)
                .collect(),
            values: values.into(),
        }
    }

    /// Attempts to change files that were denied by the agent's rules or by the system.
    fn trespasses<'e>(&self, reader: &'e OutputReader) -> Vec<&'e String> {
        let writers = self.output_rules().writers;
        let denied = reader.denied.iter().filter(|text| writers.iter().any(|writer| has_word(writer, text)));
        denied.chain(&reader.failed_writes).collect()
    }

    /// Why the agent did not finish, if that is known.
    fn diagnose(&self, ended: &JobEnd, reader: &OutputReader, answer: &str) -> Option<(Failure, String)> {
        // An agent that ran until it was killed may have recovered from errors that it logged earlier.
        let stderr = match ended.exit {
            Exit::TimedOut | Exit::Silent => reader.logged.join("\n").into(),
            _ => ended.stderr.text(),
        };
        let symptoms = Symptoms { errors: &reader.errors, stderr: &stderr, answer, exit: ended.exit };
        let diagnosed = diagnosis::diagnose(&self.row, symptoms);
        let failure = diagnosed.map(|failure| (failure.failure(), failure.detail(&self.row)));
        failure.or_else(|| {
            let detail = match (reader.errors.last(), ended.exit) {
                (Some(error), exit) if exit.succeeded() || matches!(exit, Exit::Code(_)) => {
                    format!("it ended with an error: {}", remand_notation::clean(error))
                }
                (None, exit) if exit.succeeded() => "it ended without reporting that it was done".to_string(),
                (Some(_) | None, _) => return None,
            };
            Some((Failure::Crashed, detail))
        })
    }

    fn cost(&self, context: &DispatchContext, reader: &OutputReader) -> Option<u64> {
        let before = context.session.as_ref().filter(|_| self.row.output_rules.cumulative_cost);
        let cost = Some(reader.cost()?.saturating_sub(before.map_or(0, |session| session.used.money)));
        // Some programs report zero for a model whose price they do not know.
        cost.filter(|money| *money > 0 || reader.output().is_none())
    }

    /// The tokens of this dispatch. In a resumed session, earlier tokens are subtracted.
    fn tokens(&self, context: &DispatchContext, reader: &OutputReader) -> Option<TokenCounts> {
        let (input, output) = (reader.input(), reader.output());
        if input.is_none() && output.is_none() {
            return None;
        }
        let cached = reader.cached().unwrap_or(0);
        let input = input.unwrap_or(0);
        let counted = TokenCounts {
            input: if self.row.output_rules.input_has_cached { input.saturating_sub(cached) } else { input },
            output: output.unwrap_or(0),
            cached,
            stored: reader.stored().unwrap_or(0),
        };
        match &context.session {
            Some(session) if self.row.output_rules.cumulative => Some(counted.since(session.used.tokens)),
            Some(_) | None => Some(counted),
        }
    }
}

/// The first line that mentions a denial, or else the first line.
fn one_line(text: &str) -> String {
    let line = text.lines().find(|line| is_denial(line)).or_else(|| text.lines().next());
    remand_notation::clean(line.unwrap_or_default().trim()).chars().take(300).collect()
}

/// Whether a string contains a tool's name as a whole word.
fn has_word(word: &str, text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word)
}

fn expand_home(path: &str, home: &Path) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| home.join(below))
}

/// A port that is free now; another program may take it before the agent does. If no port is free, the placeholder stays
/// empty and the agent's program reports an error.
fn free_port() -> Option<u16> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).ok()?;
    listener.local_addr().ok().map(|address| address.port())
}
