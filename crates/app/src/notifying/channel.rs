//! The ways to tell the user: a command, an address on the web, the desktop.

use crate::environment;
use crate::posting::Posting;
use remand_checks::CommandLine;
use remand_engine::config::NotifySettings;
use remand_notices::{NoticeForm, RunNotice, SIGNATURE_HEADER, signature};
use remand_process::{Cancel, ProcessJob};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a command may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Shows its arguments, which it never reads as a script.
const OSASCRIPT: [&str; 7] = [
    "osascript",
    "-e",
    "on run argv",
    "-e",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "-e",
    "end run",
];

/// One way to tell the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeChannel {
    Command(CommandLine),
    Webhook { address: String, form: String, secret_file: Option<String> },
    Desktop,
}

impl NoticeChannel {
    /// The channels that the user configured; those that answer at once come first.
    pub fn of(settings: &NotifySettings) -> Vec<NoticeChannel> {
        let command = settings.command.clone().map(NoticeChannel::Command);
        let desktop = settings.desktop.then_some(NoticeChannel::Desktop);
        let webhook = settings.webhook.clone().map(|address| NoticeChannel::Webhook {
            address,
            form: settings.form.clone(),
            secret_file: settings.secret_file.clone(),
        });
        command.into_iter().chain(desktop).chain(webhook).collect()
    }

    pub fn name(&self) -> &'static str {
        match self {
            NoticeChannel::Command(_) => "command",
            NoticeChannel::Webhook { .. } => "webhook",
            NoticeChannel::Desktop => "desktop",
        }
    }

    /// Tells the user, or says why that failed. A webhook is tried several times.
    pub fn tell(&self, notice: &RunNotice, folder: &Path) -> Result<(), String> {
        match self {
            NoticeChannel::Command(command) => {
                let argv = match command {
                    CommandLine::Shell(text) => vec!["sh".to_string(), "-c".to_string(), text.clone()],
                    CommandLine::Argv(words) => words.clone(),
                };
                let json = serde_json::to_vec(notice).map_err(|error| error.to_string())?;
                run(argv, folder, json)
            }
            NoticeChannel::Desktop => {
                let texts = [notice.title.clone(), notice.body()];
                let argv: Vec<String> = if cfg!(target_os = "macos") {
                    OSASCRIPT.iter().map(ToString::to_string).chain(texts).collect()
                } else {
                    let options = ["notify-send", "--app-name=Remand", "--"].map(str::to_string);
                    options.into_iter().chain(texts).collect()
                };
                run(argv, folder, Vec::new())
            }
            NoticeChannel::Webhook { address, form, secret_file } => {
                let formed = NoticeForm::by_name(form).of(notice);
                let mut headers: Vec<(String, String)> =
                    formed.headers.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
                if let Some(file) = secret_file {
                    let key = read_secret(file)?;
                    headers.push((SIGNATURE_HEADER.to_string(), signature(&key, formed.body.as_bytes())));
                }
                let posting = Posting { address, headers, body: formed.body.as_bytes() };
                posting.send().map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

fn run(argv: Vec<String>, folder: &Path, stdin: Vec<u8>) -> Result<(), String> {
    let mut job = ProcessJob::standalone(argv, folder, "notify");
    job.environment = std::env::vars_os().collect();
    job.stdin = stdin;
    job.limits.time = TIMEOUT;
    match remand_process::run(&job, &Cancel::new()) {
        Ok(ended) if ended.exit.succeeded() => Ok(()),
        Ok(ended) => {
            let text = ended.stderr.text();
            let said = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
            Err(said.map_or_else(|| format!("{:?}", ended.exit), str::to_string))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The content of a file in the user's configuration.
pub fn read_own(file: &str) -> Result<String, String> {
    let path = match file.strip_prefix("~/") {
        Some(rest) => PathBuf::from(environment::user_home()).join(rest),
        None => PathBuf::from(OsString::from(file)),
    };
    std::fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

fn read_secret(file: &str) -> Result<Vec<u8>, String> {
    let key = read_own(file)?;
    match key.trim() {
        "" => Err("the file with the key is empty".to_string()),
        key => Ok(key.as_bytes().to_vec()),
    }
}
