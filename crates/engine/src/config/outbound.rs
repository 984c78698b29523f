//! Settings of what leaves this machine: notices and telemetry. Both are off unless the user turns them on.

use super::layer::KeyPath;
use super::table::TypedSettings;
use super::value::ConfigValue;
use remand_checks::CommandLine;
use std::time::Duration;

/// How long an agent may be silent, without a setting.
const SILENT_AFTER: Duration = Duration::from_secs(300);

/// The keys of addresses, whose paths are often secrets.
const ADDRESSES: [&str; 2] = ["notify.webhook", "telemetry.endpoint"];

/// What to tell the user, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifySettings {
    /// The names of the kinds.
    pub on: Vec<String>,
    pub command: Option<CommandLine>,
    pub webhook: Option<String>,
    /// The name of the form that the webhook expects.
    pub form: String,
    /// As written in the file.
    pub secret_file: Option<String>,
    pub desktop: bool,
    /// The name of the sequence; `off` for none.
    pub terminal: String,
    /// Whether notices contain text of the run.
    pub texts: bool,
    pub silent_after: Duration,
}

/// Where traces and metrics go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TelemetrySettings {
    pub endpoint: Option<String>,
    /// As written in the file.
    pub headers_file: Option<String>,
}

impl NotifySettings {
    pub(super) fn read(table: &TypedSettings<'_>) -> NotifySettings {
        NotifySettings {
            on: table.words("notify.on").unwrap_or_default(),
            command: table.command("notify.command"),
            webhook: table.text("notify.webhook").filter(|address| !address.is_empty()),
            form: table.text("notify.form").unwrap_or_default(),
            secret_file: table.text("notify.secret-file"),
            desktop: table.flag("notify.desktop").unwrap_or(false),
            terminal: table.text("notify.terminal").unwrap_or_default(),
            texts: table.flag("notify.texts").unwrap_or(false),
            silent_after: table.time("notify.silent-after").unwrap_or(SILENT_AFTER),
        }
    }

    /// Whether any notice leaves the driving process.
    pub fn has_channel(&self) -> bool {
        self.command.is_some() || self.webhook.is_some() || self.desktop
    }
}

impl TelemetrySettings {
    pub(super) fn read(table: &TypedSettings<'_>) -> TelemetrySettings {
        TelemetrySettings {
            endpoint: table.text("telemetry.endpoint").filter(|address| !address.is_empty()),
            headers_file: table.text("telemetry.headers-file"),
        }
    }
}

/// An address without user, path and query, which are often secrets.
pub fn host_of(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return "…".to_string() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let more = if authority.len() < rest.len() { "/…" } else { "" };
    format!("{scheme}://{host}{more}")
}

/// A value as `remand config` shows it.
pub(super) fn shown(path: &KeyPath, value: &ConfigValue) -> String {
    match value {
        ConfigValue::Text(address) if ADDRESSES.contains(&path.join(".").as_str()) => {
            ConfigValue::Text(host_of(address)).to_toml()
        }
        value => value.to_toml(),
    }
}
