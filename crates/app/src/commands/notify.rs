//! `remand notify`: the channels of notices, recent failures to deliver, and a test of every channel.

use crate::context::CommandContext;
use crate::notifying::channel::NoticeChannel;
use crate::notifying::outbox::Outbox;
use crate::notifying::telemetry;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_ledger::RunId;
use remand_notices::{NoticeKind, RunNotice, TerminalSequence};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode};
use serde::Serialize;
use serde_json::json;
use std::io::{IsTerminal, Write};

/// The number of runs whose outboxes are read.
const RUNS: usize = 50;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Send a test notice through every channel now
    #[arg(long)]
    pub test: bool,
}

/// A notice that a channel did not take.
#[derive(Clone, Debug, Serialize)]
pub struct FailedNotice {
    pub run: String,
    pub what: String,
    pub channel: String,
    pub why: String,
}

/// What could not be delivered, of the newest runs, latest first.
pub fn failures(workplace: &Workplace) -> Vec<FailedNotice> {
    let entries = std::fs::read_dir(workplace.home.runs()).into_iter().flatten().flatten();
    let mut runs: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // Ids of runs sort by time.
    runs.sort_unstable_by(|a, b| b.cmp(a));
    let mut failed = Vec::new();
    for run in runs.into_iter().take(RUNS) {
        let folder = workplace.home.run(&RunId(run.clone()));
        for stored in Outbox::of(&folder).all().iter().rev() {
            failed.extend(stored.failures().map(|(channel, why)| FailedNotice {
                run: run.clone(),
                what: stored.notice.title.clone(),
                channel: channel.to_string(),
                why: why.to_string(),
            }));
        }
        failed.extend(telemetry::failure(&folder).map(|why| FailedNotice {
            run,
            what: "traces".to_string(),
            channel: "telemetry".to_string(),
            why,
        }));
    }
    failed
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let settings = &workplace.config.notify;
    let channels = NoticeChannel::of(settings);
    let sequence = TerminalSequence::by_name(&settings.terminal);
    if channels.is_empty() && sequence.is_none() {
        let hint = "set `notify.command`, `notify.webhook`, `notify.desktop` or `notify.terminal` in \
                    ~/.config/remand/config.toml";
        return Err(CommandFailure::user("you are not told about runs", hint));
    }
    if !args.test {
        let failed = failures(&workplace);
        let names: Vec<&str> =
            channels.iter().map(NoticeChannel::name).chain(sequence.map(|_| "terminal")).collect();
        if context.json {
            print_json(&json!({ "channels": names, "on": settings.on, "failures": failed }))?;
            return Ok(ExitCode::Done);
        }
        let mut text = format!("told by {}, on {}\n", names.join(", "), settings.on.join(", "));
        for failure in &failed {
            text.push_str(&format!(
                "not delivered: {} of run {} to {}: {}\n",
                failure.what, failure.run, failure.channel, failure.why
            ));
        }
        print(&text)?;
        return Ok(ExitCode::Done);
    }
    let notice = test_notice(&workplace);
    let mut outcomes = Vec::new();
    for channel in &channels {
        let outcome = channel.tell(&notice, workplace.repository.root());
        outcomes.push((channel.name(), outcome.err()));
    }
    if let Some(sequence) = sequence {
        let mut terminal = std::io::stderr();
        let why = match terminal.is_terminal() {
            true => terminal.write_all(sequence.of(&notice.title).as_bytes()).err().map(|it| it.to_string()),
            false => Some("standard error is not a terminal".to_string()),
        };
        outcomes.push(("terminal", why));
    }
    if context.json {
        let rows: Vec<_> = outcomes
            .iter()
            .map(|(name, why)| json!({ "channel": name, "delivered": why.is_none(), "why": why }))
            .collect();
        print_json(&json!({ "channels": rows }))?;
    } else {
        for (name, why) in &outcomes {
            match why {
                None => print(&format!("{name}: delivered\n"))?,
                Some(why) => tell(&format!("{name}: not delivered: {why}")),
            }
        }
    }
    let all = outcomes.iter().all(|(_, why)| why.is_none());
    Ok(if all { ExitCode::Done } else { ExitCode::User })
}

fn test_notice(workplace: &Workplace) -> RunNotice {
    let root = workplace.repository.root();
    let at = clock::now();
    RunNotice {
        id: format!("test/{}", at.0),
        kind: NoticeKind::Test,
        run: RunId("test".to_string()),
        workflow: "test".to_string(),
        repository: root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        at,
        title: "Remand can reach you".to_string(),
        next: String::new(),
        gate: None,
        limit: None,
        stage: None,
        agent: None,
        texts: None,
    }
}
