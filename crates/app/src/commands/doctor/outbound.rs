//! Checks what leaves the machine: notices and traces. Nothing is sent.

use super::checkup::Checkup;
use crate::commands::notify;
use crate::notifying::channel::{NoticeChannel, read_own};
use crate::workplace::Workplace;
use remand_engine::config::host_of;

/// Lists the channels, and what they did not take.
pub fn notices(checkup: &mut Checkup, workplace: &Workplace) {
    let settings = &workplace.config.notify;
    let channels = NoticeChannel::of(settings);
    if channels.is_empty() {
        return;
    }
    if let Some(why) = settings.secret_file.as_deref().and_then(|file| read_own(file).err()) {
        checkup.warn(
            "notify",
            why,
            "write the key of the webhook into the file that `notify.secret-file` names",
        );
    }
    let names: Vec<&str> = channels.iter().map(NoticeChannel::name).collect();
    let failed = notify::failures(workplace);
    let last = failed.iter().find(|failure| failure.channel != "telemetry");
    match last {
        None => checkup.ok("notify", format!("by {}, on {}", names.join(", "), settings.on.join(", "))),
        Some(failure) => checkup.warn(
            "notify",
            format!("{} could not be told: {}", failure.channel, failure.why),
            "`remand notify --test` tries every channel, and `remand notify` lists what was not delivered",
        ),
    }
}

/// Names the collector, and why it did not take the last traces.
pub fn telemetry(checkup: &mut Checkup, workplace: &Workplace) {
    let Some(endpoint) = &workplace.config.telemetry.endpoint else { return };
    let failed = notify::failures(workplace);
    match failed.iter().find(|failure| failure.channel == "telemetry") {
        None => checkup.ok("telemetry", format!("traces and metrics go to {}", host_of(endpoint))),
        Some(failure) => checkup.warn(
            "telemetry",
            format!("the traces of run {} were not delivered: {}", failure.run, failure.why),
            "correct `telemetry.endpoint`; `remand export --otlp URL --run RUN` sends them again",
        ),
    }
}
