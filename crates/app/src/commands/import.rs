//! `remand import`: what a role file of another tool gives here, and what of it is not used.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::export::files::{self, File, Replace};
use crate::export::name_of;
use crate::load;
use clap::ValueEnum;
use remand_workflow::foreign::{self, Foreign, Format, Tool, Unused};
use remand_workflow::roles::{RoleSpec, Roles};
use remand_workflow::source::Source;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Role files such as .claude/agents/reviewer.md
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The role whose contract the file gets, or one of its modes as ROLE/MODE [default: the one of the file's name]
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    /// The tool that the file is for [default: told by its path and its keys]
    #[arg(long, value_enum, value_name = "TOOL")]
    pub from: Option<ToolName>,
    /// Write the role into .remand/roles, in our format, to be changed there
    #[arg(long)]
    pub write: bool,
    /// Replace a role file that is there already and differs
    #[arg(long, requires = "write")]
    pub force: bool,
}

/// A tool, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolName {
    Claude,
    Copilot,
    Opencode,
}

impl ToolName {
    pub fn tool(self) -> Tool {
        match self {
            ToolName::Claude => Tool::Claude,
            ToolName::Copilot => Tool::Copilot,
            ToolName::Opencode => Tool::Opencode,
        }
    }
}

/// One file with what comes of it.
struct Imported {
    file: String,
    foreign: Foreign,
    ours: RoleSpec,
    spec: RoleSpec,
    unused: Vec<Unused>,
    roles: Roles,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    if args.role.is_some() && args.files.len() > 1 {
        return Err(Failure::user("`--role` is for one file", "import the files one by one"));
    }
    let known = load::own_roles(context)?;
    let mut rows = Vec::new();
    for file in &args.files {
        let imported = import(context, &known, file, args)?;
        let wrote = if args.write { Some(write(context, &imported, args)?) } else { None };
        if context.json {
            rows.push(imported.json(wrote.as_deref()));
        } else {
            print(&imported.text(wrote.as_deref()))?;
        }
    }
    if context.json {
        print_json(&json!(rows))?;
    }
    Ok(Exit::Done)
}

fn import(context: &Context<'_>, known: &Roles, path: &Path, args: &Args) -> Result<Imported, Failure> {
    let here = crate::workplace::here(context);
    let path = here.join(path);
    let path = path.canonicalize().unwrap_or(path);
    let root = load::root(context).and_then(|root| root.canonicalize().ok());
    let inside = root.as_deref().and_then(|root| path.strip_prefix(root).ok());
    let file = inside.unwrap_or(&path).display().to_string();
    let source = load::source(&path, &file)?;
    let tool = match (args.from.map(ToolName::tool), foreign::format(&source)) {
        (Some(tool), _) | (None, Some(Format::Of(tool))) => tool,
        (None, Some(Format::Ours)) => {
            let hint = format!("put it into {}; there is nothing to import", load::OWN_ROLES);
            return Err(Failure::user(format!("{file} is a role file of remand's own"), hint));
        }
        (None, None) => {
            let hint = "say it with `--from claude`, `--from copilot` or `--from opencode`";
            return Err(Failure::user(format!("{file} does not say which tool it is for"), hint));
        }
    };
    let foreign = foreign::read(tool, &source).map_err(|problems| load::refused(&source, &problems))?;
    let title = title(known, &foreign, &source, args)?;
    let mut roles = known.clone();
    let unused =
        roles.adopt(&title, &foreign, &source).map_err(|problems| load::refused(&source, &problems))?;
    match (known.get(&title).cloned(), roles.get(&title).cloned()) {
        (Some(ours), Some(spec)) => Ok(Imported { file, foreign, ours, spec, unused, roles }),
        (None, _) | (_, None) => Err(no_role(known, &title, &file)),
    }
}

/// The role that a file is for: the one that is named, else the one of its own name, else of its file's.
fn title(known: &Roles, foreign: &Foreign, source: &Source, args: &Args) -> Result<String, Failure> {
    if let Some(role) = &args.role {
        return Ok(role.clone());
    }
    let base = Path::new(&source.name).file_name().map(|name| name.to_string_lossy().into_owned());
    let stem = base.as_deref().and_then(|base| base.split('.').next()).unwrap_or_default();
    let plain = |name: &str| name.trim().to_lowercase().replace([' ', '_'], "-");
    let names = foreign.name.as_deref().into_iter().chain([stem]).map(plain);
    let mut titles = names.filter_map(|name| known.titles().find(|title| name_of(title) == name));
    titles.next().map(str::to_string).ok_or_else(|| no_role(known, stem, &source.name))
}

fn no_role(known: &Roles, name: &str, file: &str) -> Failure {
    let near = remand_workflow::diagnostic::nearest(name, known.titles());
    let hint = match near {
        Some(near) => format!("say `--role {near}`, or another role of `remand reference`"),
        None => "say with `--role` whose contract it gets; `remand reference` lists the roles".to_string(),
    };
    Failure::user(format!("{file} is named like no role"), hint)
}

/// Writes the role in our format, and gives the path.
fn write(context: &Context<'_>, imported: &Imported, args: &Args) -> Result<PathBuf, Failure> {
    let title = &imported.spec.title;
    let text = imported.roles.written(title).filter(|_| !title.contains('/')).ok_or_else(|| {
        let hint =
            "import a file for the whole role, or name it in remand.toml as `[roles.\"ROLE/MODE\"] file`";
        Failure::user(format!("`{title}` is one mode of a role, and a role file has all of them"), hint)
    })?;
    let path = PathBuf::from(load::OWN_ROLES).join(format!("{title}.md"));
    let source = Source::new(path.display().to_string(), text);
    Roles::default().add(title, &source).map_err(|problems| load::refused(&source, &problems))?;
    let root = load::root(context).unwrap_or_else(|| crate::workplace::here(context));
    let replace = if args.force { Replace::Differing } else { Replace::Nothing };
    files::write(&root, &[File { path: path.clone(), text: source.text }], replace)?;
    Ok(path)
}

impl Imported {
    fn text(&self, wrote: Option<&Path>) -> String {
        let mut text = format!("{} as `{}`, from {}\n", self.file, self.spec.title, self.foreign.tool.name());
        for (name, ours, theirs) in self.rows() {
            let was = if ours == theirs { String::new() } else { format!("  (the role: {ours})") };
            let _ = writeln!(text, "  {name:<10} {theirs}{was}");
        }
        for unused in &self.unused {
            let _ = writeln!(text, "  line {}: {unused}", unused.line);
        }
        match wrote {
            Some(path) => {
                let _ = writeln!(text, "wrote {}", path.display());
            }
            None if Path::new(&self.file).is_absolute() => {}
            None => {
                let title = &self.spec.title;
                let title = if title.contains('/') { format!("\"{title}\"") } else { title.clone() };
                let _ = writeln!(
                    text,
                    "to use it as it is, in remand.toml:\n\n  [roles.{title}]\n  file = \"{}\"",
                    self.file
                );
            }
        }
        text
    }

    /// What changes: name, what the role has, what is left of it.
    fn rows(&self) -> Vec<(&'static str, String, String)> {
        let places = |spec: &RoleSpec| -> String {
            let names: Vec<&str> = spec.may_write.iter().map(|place| place.name()).collect();
            names.join(", ")
        };
        let word = |is: bool| if is { "yes" } else { "no" }.to_string();
        let model = |spec: &RoleSpec| spec.model.clone().unwrap_or_else(|| "none".to_string());
        vec![
            ("model", model(&self.ours), model(&self.spec)),
            ("may write", places(&self.ours), places(&self.spec)),
            ("shell", word(self.ours.shell), word(self.spec.shell)),
            ("network", word(self.ours.network), word(self.spec.network)),
        ]
    }

    fn json(&self, wrote: Option<&Path>) -> Value {
        let places: Vec<&str> = self.spec.may_write.iter().map(|place| place.name()).collect();
        let unused: Vec<Value> = self
            .unused
            .iter()
            .map(|unused| json!({ "line": unused.line, "what": unused.what, "reason": unused.reason }))
            .collect();
        json!({
            "file": self.file,
            "from": self.foreign.tool.name(),
            "role": self.spec.title,
            "about": self.spec.about,
            "model": self.spec.model,
            "may-write": places,
            "shell": self.spec.shell,
            "network": self.spec.network,
            "unused": unused,
            "wrote": wrote,
        })
    }
}
