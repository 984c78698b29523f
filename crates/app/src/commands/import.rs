//! `remand import`: shows how a role file of another tool would be used here.

use crate::context::CommandContext;
use crate::export::files::{self, ExportedFile, Replace};
use crate::export::name_of;
use crate::load;
use clap::ValueEnum;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::foreign::{self, AgentTool, Foreign, RoleFormat, Unused};
use remand_workflow::roles::{RoleSpec, Roles};
use remand_workflow::source::SourceText;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Role files such as .claude/agents/reviewer.md
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The role that the file becomes, or one mode of it as ROLE/MODE [default: the role with its name]
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    /// The tool that the file is for [default: detected from its path and keys]
    #[arg(long, value_enum, value_name = "TOOL")]
    pub from: Option<ToolName>,
    /// Write the role to .remand/roles in our format, ready to edit
    #[arg(long)]
    pub write: bool,
    /// Replace an existing role file that differs
    #[arg(long, requires = "write")]
    pub force: bool,
}

/// A tool, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolName {
    Claude,
    Copilot,
    Opencode,
}

impl ToolName {
    pub fn tool(self) -> AgentTool {
        match self {
            ToolName::Claude => AgentTool::Claude,
            ToolName::Copilot => AgentTool::Copilot,
            ToolName::Opencode => AgentTool::Opencode,
        }
    }
}

/// One file and the role that it becomes.
struct Imported {
    file: String,
    foreign: Foreign,
    ours: RoleSpec,
    spec: RoleSpec,
    unused: Vec<Unused>,
    roles: Roles,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    if args.role.is_some() && args.files.len() > 1 {
        return Err(CommandFailure::user("`--role` takes a single file", "import the files one by one"));
    }
    let known = load::base_roles(context)?;
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
    Ok(ExitCode::Done)
}

fn import(
    context: &CommandContext<'_>,
    known: &Roles,
    path: &Path,
    args: &Args,
) -> Result<Imported, CommandFailure> {
    let here = crate::workplace::here(context);
    let path = here.join(path);
    let path = path.canonicalize().unwrap_or(path);
    let root = load::root(context).and_then(|root| root.canonicalize().ok());
    let inside = root.as_deref().and_then(|root| path.strip_prefix(root).ok());
    let file = inside.unwrap_or(&path).display().to_string();
    let source = load::source(&path, &file)?;
    let tool = match (args.from.map(ToolName::tool), foreign::format(&source)) {
        (Some(tool), _) | (None, Some(RoleFormat::Of(tool))) => tool,
        (None, Some(RoleFormat::Ours)) => {
            let hint = format!("put it into {}; no import is needed", load::ROLES_FOLDER);
            return Err(CommandFailure::user(format!("{file} is already a role file of Remand"), hint));
        }
        (None, None) => {
            let hint = "use `--from claude`, `--from copilot` or `--from opencode`";
            return Err(CommandFailure::user(format!("it is unclear which tool {file} is for"), hint));
        }
    };
    let foreign = foreign::read(tool, &source).map_err(|problems| load::refuse(&source, &problems))?;
    let title = title(known, &foreign, &source, args)?;
    let mut roles = known.clone();
    let unused =
        roles.adopt(&title, &foreign, &source).map_err(|problems| load::refuse(&source, &problems))?;
    match (known.get(&title).cloned(), roles.get(&title).cloned()) {
        (Some(ours), Some(spec)) => Ok(Imported { file, foreign, ours, spec, unused, roles }),
        (None, _) | (_, None) => Err(no_role(known, &title, &file)),
    }
}

/// The role of a file: the one that the user names, else the one that the file names, else the one with the file's name.
fn title(
    known: &Roles,
    foreign: &Foreign,
    source: &SourceText,
    args: &Args,
) -> Result<String, CommandFailure> {
    if let Some(role) = &args.role {
        return Ok(role.clone());
    }
    let base = Path::new(&source.name).file_name().map(|name| name.to_string_lossy().into_owned());
    let stem = base.as_deref().and_then(|base| base.split('.').next()).unwrap_or_default();
    let normalize = |name: &str| name.trim().to_lowercase().replace([' ', '_'], "-");
    let names = foreign.name.as_deref().into_iter().chain([stem]).map(normalize);
    let mut titles = names.filter_map(|name| known.titles().find(|title| name_of(title) == name));
    titles.next().map(str::to_string).ok_or_else(|| no_role(known, stem, &source.name))
}

fn no_role(known: &Roles, name: &str, file: &str) -> CommandFailure {
    let near = remand_workflow::diagnostic::nearest(name, known.titles());
    let hint = match near {
        Some(near) => format!("use `--role {near}`, or another role that `remand reference` lists"),
        None => "use `--role` to choose its contract; `remand reference` lists the roles".to_string(),
    };
    CommandFailure::user(format!("{file} does not have the name of a role"), hint)
}

/// Writes the role in our format and returns its path.
fn write(context: &CommandContext<'_>, imported: &Imported, args: &Args) -> Result<PathBuf, CommandFailure> {
    let title = &imported.spec.title;
    let text = imported.roles.to_file(title).filter(|_| !title.contains('/')).ok_or_else(|| {
        let hint =
            "import a file for the whole role, or set `file` under `[roles.\"ROLE/MODE\"]` in remand.toml";
        CommandFailure::user(
            format!("`{title}` is one mode of a role, but a role file contains all modes"),
            hint,
        )
    })?;
    let path = PathBuf::from(load::ROLES_FOLDER).join(format!("{title}.md"));
    let source = SourceText::new(path.display().to_string(), text);
    Roles::default().add(title, &source).map_err(|problems| load::refuse(&source, &problems))?;
    let root = load::root(context).unwrap_or_else(|| crate::workplace::here(context));
    let replace = if args.force { Replace::Differing } else { Replace::Nothing };
    files::write(&root, &[ExportedFile { path: path.clone(), text: source.text }], replace)?;
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

    /// The properties that a file can change: name, value in the role, value with the file.
    fn rows(&self) -> Vec<(&'static str, String, String)> {
        let may_write = |spec: &RoleSpec| -> String {
            let names: Vec<&str> = spec.may_write.iter().map(|writable| writable.name()).collect();
            names.join(", ")
        };
        let yes_or_no = |is: bool| if is { "yes" } else { "no" }.to_string();
        let model = |spec: &RoleSpec| spec.model.clone().unwrap_or_else(|| "none".to_string());
        vec![
            ("model", model(&self.ours), model(&self.spec)),
            ("may write", may_write(&self.ours), may_write(&self.spec)),
            ("shell", yes_or_no(self.ours.shell), yes_or_no(self.spec.shell)),
            ("network", yes_or_no(self.ours.network), yes_or_no(self.spec.network)),
        ]
    }

    fn json(&self, wrote: Option<&Path>) -> Value {
        let may_write: Vec<&str> = self.spec.may_write.iter().map(|writable| writable.name()).collect();
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
            "may-write": may_write,
            "shell": self.spec.shell,
            "network": self.spec.network,
            "unused": unused,
            "wrote": wrote,
        })
    }
}
