//! `remand deliver`: sends the notices and traces of a run. The driving process starts it and does not wait.

use crate::context::CommandContext;
use crate::host;
use crate::notifying::channel::NoticeChannel;
use crate::notifying::outbox::{ChannelOutcome, Outbox};
use crate::notifying::telemetry;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::logging;
use remand_ledger::RunId;
use remand_terminal::{CommandFailure, ExitCode};
use std::time::Duration;

/// A notice that could not be delivered for this long is of no use any more.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run
    #[arg(value_name = "RUN")]
    pub run: String,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    logging::write_to(workplace.home.runs(), host::redactor(&workplace.config)?);
    let reader = workplace.reader()?;
    let run = reader.run(&args.run)?.run;
    let folder = workplace.home.run(&run);
    let outbox = Outbox::of(&folder);
    let failed = |error| CommandFailure::internal_error("the notices of the run cannot be used", &error);
    let _lock = outbox.lock().map_err(failed)?;
    let told = tell(&workplace, &run, &outbox).map_err(failed);
    if let Err(error) = telemetry::send_new(&workplace.config.telemetry, &reader, &run, &folder) {
        tracing::warn!(%run, error, "traces are not delivered");
    }
    told.map(|()| ExitCode::Done)
}

/// Tells every notice to each channel that does not have it yet.
fn tell(workplace: &Workplace, run: &RunId, outbox: &Outbox) -> std::io::Result<()> {
    let channels = NoticeChannel::of(&workplace.config.notify);
    for mut stored in outbox.all() {
        let age = u128::try_from(clock::now().0 - stored.notice.at.0).unwrap_or(0);
        if age > STALE.as_millis() {
            continue;
        }
        for channel in
            channels.iter().filter(|channel| !stored.is_delivered(channel.name())).collect::<Vec<_>>()
        {
            let (notice, name) = (&stored.notice.id, channel.name());
            let outcome = match channel.tell(&stored.notice, workplace.repository.root()) {
                Ok(()) => {
                    tracing::info!(%run, notice, channel = name, "delivered");
                    ChannelOutcome::Delivered { at: clock::now() }
                }
                Err(why) => {
                    tracing::warn!(%run, notice, channel = name, why, "not delivered");
                    ChannelOutcome::Failed { at: clock::now(), why }
                }
            };
            stored.channels.insert(channel.name().to_string(), outcome);
            outbox.record(&stored)?;
        }
    }
    Ok(())
}
