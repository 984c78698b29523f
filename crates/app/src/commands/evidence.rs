//! `remand evidence`: the evidence bundle, or a self-contained export of it.

use crate::context::CommandContext;
use crate::host;
use crate::workplace::Workplace;
use remand_engine::bundle;
use remand_engine::sealed::{self, SealError};
use remand_ledger::query::CheckFilter;
use remand_ledger::{Reader, RunId, export};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::table::page_width;
use remand_terminal::{CommandFailure, ExitCode};
use remand_terminal::{Ink, markdown};
use remand_views::{RepositoryState, RunSite};
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// What to print: `markdown`, the whole bundle; `pr`, the body of a pull request
    #[arg(long, value_name = "FORM", value_enum, default_value = "markdown", conflicts_with_all = ["sqlite", "html", "export", "verify"])]
    pub format: EvidenceForm,
    /// Write the evidence of this run to a separate SQLite file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["export", "verify", "html"])]
    pub sqlite: Option<PathBuf>,
    /// Write everything about this run to one HTML file, for a pull request or an archive
    #[arg(long, value_name = "FILE", conflicts_with_all = ["export", "verify"])]
    pub html: Option<PathBuf>,
    /// Write the bundle and a SQLite file to this new folder, signed with the key of this repository
    #[arg(long, value_name = "DIR", conflicts_with = "verify")]
    pub export: Option<PathBuf>,
    /// Verify that an exported folder is unchanged since it was signed
    #[arg(long, value_name = "DIR")]
    pub verify: Option<PathBuf>,
    /// With --verify: the key that must have signed it
    #[arg(long, value_name = "KEY", requires = "verify")]
    pub key: Option<String>,
}

/// What `remand evidence` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum EvidenceForm {
    #[default]
    Markdown,
    Pr,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    if let Some(folder) = &args.verify {
        let manifest = sealed::verify(folder, args.key.as_deref()).map_err(|error| seal_failure(&error))?;
        if context.json {
            print_json(&json!({ "sound": true, "manifest": manifest }))?;
        } else {
            print(&format!("valid: run {}, signed by key {}\n", manifest.run, manifest.key))?;
        }
        return Ok(ExitCode::Done);
    }
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let ledger_failure = |error| CommandFailure::from(error);
    let row = reader.run(&args.run).map_err(ledger_failure)?;
    if let Some(file) = &args.sqlite {
        export(&reader, &row.run, file).map_err(ledger_failure)?;
        if context.json {
            print_json(&json!({ "run": row.run, "file": file }))?;
        } else {
            tell(&format!("exported to {}", file.display()));
        }
        return Ok(ExitCode::Done);
    }
    if let Some(file) = &args.html {
        return write_html(context, &workplace, reader, &row.run, file);
    }
    if let Some(folder) = &args.export {
        let key = workplace.home.signing_key();
        let manifest = sealed::seal(&reader, &row.run, &key, folder).map_err(|error| seal_failure(&error))?;
        if context.json {
            print_json(&json!({ "folder": folder, "manifest": manifest }))?;
        } else {
            let sealed = format!("sealed in {}, signed by key {}", folder.display(), manifest.key);
            print(&format!(
                "{sealed}\nverify it anywhere with `remand evidence --verify {}`\n",
                folder.display()
            ))?;
        }
        return Ok(ExitCode::Done);
    }
    if context.json {
        let run = &row.run;
        print_json(&json!({
            "run": row,
            "tasks": reader.task_summaries(run).map_err(ledger_failure)?,
            "checks": reader.checks(run, CheckFilter::default()).map_err(ledger_failure)?,
            "test_proofs": reader.test_proofs(run).map_err(ledger_failure)?,
            "mutants": reader.mutants(run).map_err(ledger_failure)?,
            "findings": reader.findings(run).map_err(ledger_failure)?,
            "gates": reader.gates(run).map_err(ledger_failure)?,
            "notes": reader.notes(run).map_err(ledger_failure)?,
            "totals": reader.totals(run).map_err(ledger_failure)?,
        }))?;
        return Ok(ExitCode::Done);
    }
    let text = match args.format {
        EvidenceForm::Markdown => bundle::text(&reader, &row.run),
        EvidenceForm::Pr => bundle::pull_request(&reader, &row.run),
    };
    let text = text.map_err(ledger_failure)?;
    // A file or another program gets the page as it is. A body is there to be copied.
    if std::io::stdout().is_terminal() && args.format == EvidenceForm::Markdown {
        print(&markdown::render(&text, Ink::of_stdout(), page_width()))?;
    } else {
        print(&text)?;
    }
    Ok(ExitCode::Done)
}

/// Writes a run as the page shows it.
fn write_html(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    reader: Reader,
    run: &RunId,
    file: &Path,
) -> Result<ExitCode, CommandFailure> {
    let redactor = host::redactor(&workplace.config)?;
    let site = RunSite {
        state: workplace.home.state_root().to_path_buf(),
        door: None,
        redactor: Box::new(move |_| redactor.clone()),
    };
    let repository = RepositoryState::of(workplace.home.clone());
    let text = remand_page::document(&site, repository, reader, run).map_err(|problem| {
        CommandFailure::user(problem.to_string(), problem.hint()).with_sources(&problem)
    })?;
    std::fs::write(file, text).map_err(|error| {
        CommandFailure::user(
            format!("{} cannot be written", file.display()),
            "name a file that you can write",
        )
        .caused_by(error.to_string())
    })?;
    if context.json {
        print_json(&json!({ "run": run, "file": file }))?;
    } else {
        tell(&format!("written to {}", file.display()));
    }
    Ok(ExitCode::Done)
}

fn seal_failure(error: &SealError) -> CommandFailure {
    let failure = CommandFailure::user(error.to_string(), error.hint());
    match error {
        SealError::File { source, .. } | SealError::Unreadable { source, .. } => {
            failure.caused_by(source.to_string())
        }
        SealError::Ledger(_)
        | SealError::BadKey { .. }
        | SealError::BadManifest { .. }
        | SealError::BadSignature
        | SealError::Changed { .. }
        | SealError::Missing { .. }
        | SealError::OtherKey { .. } => failure,
    }
}
