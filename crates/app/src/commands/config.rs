//! `remand config`: every setting in effect, and where it comes from.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table, Tone};
use crate::workplace;
use remand_runtime::config::{Effective, Origin};
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this key, or the keys of this table
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let repository = workplace::repository(context)?;
    let config = workplace::config(&repository, Vec::new())?;
    let mut settings = config.origins();
    if let Some(key) = &args.key {
        let table = format!("{key}.");
        settings.retain(|setting| setting.key == *key || setting.key.starts_with(&table));
        if settings.is_empty() {
            let hint = "`remand config` lists all; `remand init` writes a file that explains every key";
            return Err(Failure::user(format!("nothing is set for `{key}`"), hint));
        }
    }
    if context.json {
        let rows: Vec<Value> = settings.iter().map(to_json).collect();
        print_json(&json!(rows))?;
    } else {
        print(&table(&settings, repository.root()).render(Ink::of_stdout()))?;
    }
    Ok(Exit::Done)
}

fn table(settings: &[Effective], root: &Path) -> Table {
    let mut table = Table::new(&[("key", Fit::Wrap), ("value", Fit::Wrap), ("from", Fit::Wrap)]);
    let root = format!("{}/", root.display());
    for setting in settings {
        let tone = match setting.origin {
            Origin::BuiltIn => Tone::Plain,
            Origin::User(_) | Origin::Repository(_) | Origin::Environment(_) | Origin::Flag(_) => {
                Tone::Strong
            }
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

fn to_json(setting: &Effective) -> Value {
    let layer = match setting.origin {
        Origin::BuiltIn => "built-in",
        Origin::User(_) => "user",
        Origin::Repository(_) => "repository",
        Origin::Environment(_) => "environment",
        Origin::Flag(_) => "flag",
    };
    json!({ "key": setting.key, "value": setting.value, "layer": layer, "from": setting.origin.to_string() })
}
