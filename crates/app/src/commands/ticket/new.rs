//! `remand ticket new`: writes a ticket with every section that the engine reads.

use crate::context::CommandContext;
use crate::workplace;
use remand_documents::template;
use remand_engine::clock;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The title
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// The number [default: the next one in the folder]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// The folder for tickets, relative to the root of the repository
    #[arg(long, default_value = "tickets", value_name = "DIR")]
    pub folder: PathBuf,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let repository = workplace::repository(context)?;
    let folder = repository.root().join(&args.folder);
    let title = args.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(CommandFailure::user("a ticket needs a title", "describe in a few words what you want"));
    }
    let id = match &args.id {
        Some(id) if is_valid_id(id) => id.clone(),
        Some(id) => {
            return Err(CommandFailure::user(
                format!("`{id}` is not a ticket number"),
                "use letters, digits and `-`",
            ));
        }
        None => next_number(&folder),
    };
    let path = folder.join(format!("{id}_{}.md", slug(&title)));
    let unwritable = |error: std::io::Error| {
        CommandFailure::user(format!("{} cannot be written", path.display()), "choose another title or --id")
            .caused_by(error.to_string())
    };
    fs::create_dir_all(&folder).map_err(unwritable)?;
    let text = template(&id, &title, &clock::date(clock::now()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(unwritable)?;
    file.write_all(text.as_bytes()).map_err(unwritable)?;
    let shown = path.strip_prefix(repository.root()).unwrap_or(&path).display().to_string();
    if context.json {
        print_json(&json!({ "ticket": shown, "id": id }))?;
    } else {
        print(&format!(
            "wrote {shown}; describe in it what you want, then\n\
             \x20 git add {shown} && git commit\n\
             \x20 remand run --ticket {shown}\n"
        ))?;
    }
    Ok(ExitCode::Done)
}

fn is_valid_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// One more than the highest number at the start of a file name.
fn next_number(folder: &Path) -> String {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let numbers = names.filter_map(|name| {
        let name = name.to_string_lossy().into_owned();
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    format!("{:04}", numbers.max().unwrap_or(0).saturating_add(1))
}

fn slug(title: &str) -> String {
    let words = title.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.take(6).collect::<Vec<_>>().join("_");
    if slug.is_empty() { "ticket".to_string() } else { slug }
}
