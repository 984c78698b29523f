//! `remand config`: every setting in effect, and where it comes from.

use crate::context::CommandContext;
use crate::workplace;
use remand_engine::config::{EffectiveValue, ValueOrigin};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone};
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this key, or the keys of this table
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let repository = workplace::repository(context)?;
    let config = workplace::config(&repository, Vec::new())?;
    let mut settings = config.origins();
    if let Some(key) = &args.key {
        let table = format!("{key}.");
        settings.retain(|setting| setting.key == *key || setting.key.starts_with(&table));
        if settings.is_empty() {
            let hint = "`remand config` lists all; `remand init --all` writes a file that explains every key";
            return Err(CommandFailure::user(format!("nothing is set for `{key}`"), hint));
        }
    }
    if context.json {
        let rows: Vec<Value> = settings.iter().map(to_json).collect();
        print_json(&json!(rows))?;
    } else {
        print(&table(&settings, repository.root()).render(Ink::of_stdout()))?;
    }
    Ok(ExitCode::Done)
}

fn table(settings: &[EffectiveValue], root: &Path) -> TextTable {
    let mut table =
        TextTable::new(&[("key", ColumnFit::Wrap), ("value", ColumnFit::Wrap), ("from", ColumnFit::Wrap)]);
    let root = format!("{}/", root.display());
    for setting in settings {
        let tone = match setting.origin {
            ValueOrigin::BuiltIn => Tone::Plain,
            ValueOrigin::User(_)
            | ValueOrigin::Repository(_)
            | ValueOrigin::Environment(_)
            | ValueOrigin::Flag(_) => Tone::Strong,
        };
        let from = setting.origin.to_string();
        table.row(vec![
            Cell::new(&setting.key),
            Cell::new(&setting.value).toned(tone),
            Cell::new(from.strip_prefix(&root).unwrap_or(&from)),
        ]);
    }
    table
}

fn to_json(setting: &EffectiveValue) -> Value {
    let layer = match setting.origin {
        ValueOrigin::BuiltIn => "built-in",
        ValueOrigin::User(_) => "user",
        ValueOrigin::Repository(_) => "repository",
        ValueOrigin::Environment(_) => "environment",
        ValueOrigin::Flag(_) => "flag",
    };
    json!({ "key": setting.key, "value": setting.value, "layer": layer, "from": setting.origin.to_string() })
}
