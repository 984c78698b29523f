//! The log of the engine: `engine.log` in the folder of each run, and standard error on request.
//!
//! Nothing is written before `write_to` sets the folder of runs and the redactor.

use crate::clock;
use crate::redact::Redactor;
use remand_notation::clean;
use std::fmt::{self, Write as _};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::subscriber::SetGlobalDefaultError;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The variable that selects what is logged: a level, or a comma-separated list of `TARGET=LEVEL`.
pub const VARIABLE: &str = "REMAND_LOG";

/// The log of a run, in its folder.
const FILE: &str = "engine.log";

/// The log target of all crates of this program; other crates log too much.
const OUR_CRATES: &str = "remand";

static SINK: RwLock<Option<Sink>> = RwLock::new(None);

struct Sink {
    runs: PathBuf,
    redactor: Redactor,
}

/// Why the log cannot start.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("{VARIABLE} cannot be read: {0}")]
    Filter(#[from] ParseError),
    #[error(transparent)]
    AlreadyStarted(#[from] SetGlobalDefaultError),
}

/// Starts the log. `verbose` is the number of `-v` options: with one, the log is also written to standard error; with
/// two, it includes details. `filter` is the value of `REMAND_LOG`.
pub fn start(verbose: u8, filter: Option<&str>) -> Result<(), LogError> {
    let default_level = if verbose > 1 { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let targets = match filter.map(str::trim).filter(|filter| !filter.is_empty()) {
        None => Targets::new().with_target(OUR_CRATES, default_level),
        Some(filter) => match filter.parse::<LevelFilter>() {
            Ok(level) => Targets::new().with_target(OUR_CRATES, level),
            Err(_) => filter.parse()?,
        },
    };
    let log = EngineLog { to_stderr: verbose > 0 };
    tracing::subscriber::set_global_default(Registry::default().with(log.with_filter(targets)))?;
    Ok(())
}

/// Sets the folder that contains the folders of runs, and the redactor that removes secrets from each line.
pub fn write_to(runs: PathBuf, redactor: Redactor) {
    *SINK.write().unwrap_or_else(PoisonError::into_inner) = Some(Sink { runs, redactor });
}

struct EngineLog {
    to_stderr: bool,
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for EngineLog {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (mut run, mut span_fields) = (fields.run.take(), String::new());
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(outer) = span.extensions().get::<Fields>() {
                span_fields.push_str(&outer.text);
                run = run.or_else(|| outer.run.clone());
            }
        }
        let sink = SINK.read().unwrap_or_else(PoisonError::into_inner);
        let Some(sink) = &*sink else { return };
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let text = format!("{level:5} {target}: {}{}{span_fields}", fields.message, fields.text);
        let text = clean(&sink.redactor.redact(&text)).replace('\n', " ");
        if let Some(run) = &run {
            sink.append(run, &text);
        }
        if self.to_stderr {
            let run = run.map(|run| format!(" run={run}")).unwrap_or_default();
            // If standard error is closed, there is nowhere to report it.
            let _ = writeln!(std::io::stderr(), "{text}{run}");
        }
    }
}

impl Sink {
    fn append(&self, run: &str, text: &str) {
        let folder = self.runs.join(run);
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(folder.join(FILE));
        // A log that cannot be written must not stop a run.
        let _ = file
            .and_then(|mut file| file.write_all(format!("{} {text}\n", clock::iso(clock::now())).as_bytes()));
    }
}

/// The fields of an event or a span.
#[derive(Debug, Default)]
struct Fields {
    run: Option<String>,
    message: String,
    /// All other fields, each as ` name=value`.
    text: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "run" => self.run = Some(format!("{value:?}")),
            "message" => self.message = format!("{value:?}"),
            // Writing to a string cannot fail.
            name => drop(write!(self.text, " {name}={value:?}")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::redact::RedactionRules;
    use std::collections::BTreeMap;

    #[test]
    fn each_run_has_a_log_without_secrets_and_without_debug_details() {
        let folder = tempfile::tempdir().expect("a folder");
        for run in ["r1", "r2"] {
            std::fs::create_dir(folder.path().join(run)).expect("a folder");
        }
        let secret = "hunter2-and-more-than-that";
        let environment = BTreeMap::from([("API_TOKEN".to_string(), secret.to_string())]);
        let redactor = Redactor::new(environment, &RedactionRules::default()).expect("a redactor");
        write_to(folder.path().to_path_buf(), redactor);
        let log = EngineLog { to_stderr: false };
        let targets = Targets::new().with_target(OUR_CRATES, LevelFilter::INFO);
        tracing::subscriber::with_default(Registry::default().with(log.with_filter(targets)), || {
            tracing::info!(run = "r2", seq = 4, "committed");
            let _span = tracing::info_span!("command", run = "r1", command = "p1").entered();
            tracing::info!(detail = secret, "ended\nhere");
            tracing::debug!("a detail");
            tracing::info!(target: "another_crate", "not logged");
        });
        let log = |run: &str| std::fs::read_to_string(folder.path().join(run).join(FILE)).expect("a log");
        assert!(
            log("r2").ends_with("Z INFO  remand_engine::logging::tests: committed seq=4\n"),
            "{}",
            log("r2")
        );
        let lines = log("r1");
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.contains("ended here detail=") && lines.ends_with(" command=p1\n"), "{lines}");
        assert!(!lines.contains(secret), "{lines}");
    }
}
