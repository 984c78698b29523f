//! Finds and reads workflows and roles.

use crate::context::CommandContext;
use crate::environment;
use crate::workplace::here;
use remand_engine::config::{Config, Sources};
use remand_engine::pinned::PinnedFile;
use remand_terminal::output::tell;
use remand_terminal::{CommandFailure, ExitCode, Ink};
use remand_workflow::compile::Compiled;
use remand_workflow::diagnostic::Style;
use remand_workflow::foreign::{self, RoleFormat};
use remand_workflow::roles::Roles;
use remand_workflow::source::{MAX_FILE_BYTES, SourceText};
use remand_workflow::{CheckedWorkflow, check, check_bytes, diagnostic, shipped, yaml};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder in a repository with its roles.
pub const ROLES_FOLDER: &str = ".remand/roles";

/// The folder in a repository with its workflows.
const WORKFLOWS_FOLDER: &str = ".remand/workflows";

/// Finds a folder of the repository, upwards from the current folder.
fn find_folder(context: &CommandContext<'_>, folder: &str) -> Option<PathBuf> {
    let here = here(context);
    let root = here.ancestors().find(|above| above.join(folder).is_dir() || above.join(".git").exists())?;
    Some(root.join(folder)).filter(|path| path.is_dir())
}

/// The shipped roles, then the repository's roles, then those that the configuration names; later ones win.
pub fn roles(context: &CommandContext<'_>) -> Result<Roles, CommandFailure> {
    let mut roles = base_roles(context)?;
    let Some(root) = root(context) else {
        return Ok(roles);
    };
    let config = Config::load(&Sources::of(&root, environment::all()))?;
    for (title, choice) in &config.roles {
        if let Some(file) = &choice.file {
            replace_role(&mut roles, title, &root, file)?;
        }
    }
    Ok(roles)
}

/// Replaces a role with a file that the configuration names, and reports the parts of the file that are not used.
fn replace_role(roles: &mut Roles, title: &str, root: &Path, file: &str) -> Result<(), CommandFailure> {
    let source = source(&root.join(file), file)?;
    let tool = match foreign::format(&source) {
        Some(RoleFormat::Of(tool)) => tool,
        Some(RoleFormat::Ours) if !title.contains('/') => {
            return roles.add(title, &source).map_err(|problems| refuse(&source, &problems));
        }
        Some(RoleFormat::Ours) => {
            let what = format!("{file} is a whole role, but `{title}` is only one mode of a role");
            return Err(CommandFailure::user(
                what,
                "set it for the role itself, or put it into .remand/roles",
            ));
        }
        None => {
            let hint = "name a file in .claude/agents, .github/agents or .opencode/agents, or see `remand import --help`";
            return Err(CommandFailure::user(format!("it is unclear which tool {file} is for"), hint));
        }
    };
    let adopted = foreign::read(tool, &source).and_then(|foreign| roles.adopt(title, &foreign, &source));
    for unused in adopted.map_err(|problems| refuse(&source, &problems))? {
        tell(&format!("note: {file}:{}: {unused}", unused.line));
    }
    Ok(())
}

/// The root of the repository around the current folder.
pub fn root(context: &CommandContext<'_>) -> Option<PathBuf> {
    here(context).ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf)
}

/// Reads a file as text. Messages refer to it by `name`.
pub fn source(path: &Path, name: &str) -> Result<SourceText, CommandFailure> {
    yaml::decode(name, &read(path)?)
        .map_err(|undecodable| refuse(&undecodable.source, &[undecodable.problem]))
}

/// The shipped roles, and those of the command line or the repository that add to or replace them.
pub fn base_roles(context: &CommandContext<'_>) -> Result<Roles, CommandFailure> {
    let mut roles = Roles::shipped();
    let Some(folder) = context.roles.map(PathBuf::from).or_else(|| find_folder(context, ROLES_FOLDER)) else {
        return Ok(roles);
    };
    let entries = std::fs::read_dir(&folder).map_err(|error| {
        CommandFailure::user(
            format!("the roles in {} cannot be read", folder.display()),
            "name a folder with role files",
        )
        .caused_by(error.to_string())
    })?;
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    for path in files {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let source = source(&path, &path.display().to_string())?;
        roles.add(&name, &source).map_err(|problems| refuse(&source, &problems))?;
    }
    Ok(roles)
}

/// The names of the repository's workflows.
pub fn repository_workflows(context: &CommandContext<'_>) -> Vec<String> {
    let folder = find_folder(context, WORKFLOWS_FOLDER);
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let mut names: Vec<String> =
        files.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// Reads and checks a workflow. Looks for a workflow of the repository, then for a file, then for a shipped workflow.
pub fn workflow(
    context: &CommandContext<'_>,
    name: &str,
    roles: &Roles,
) -> Result<CheckedWorkflow, CommandFailure> {
    let path = Path::new(name);
    let is_name = !name.contains(['/', '.']);
    if let Some(file) = find_folder(context, WORKFLOWS_FOLDER)
        .map(|folder| folder.join(format!("{name}.yaml")))
        .filter(|file| is_name && file.is_file())
    {
        return Ok(check_bytes(&file.display().to_string(), &read(&file)?, roles));
    }
    if !path.is_file()
        && let Some(text) = shipped::workflow(name)
    {
        return Ok(check(SourceText::new(format!("{name}.yaml"), text), roles));
    }
    if !path.exists() {
        let local = repository_workflows(context);
        let shipped = shipped::WORKFLOWS.iter().map(|(name, _)| *name);
        let hint = match diagnostic::nearest(name, shipped.chain(local.iter().map(String::as_str))) {
            Some(near) => format!("did you mean `{near}`? `remand workflows` lists them"),
            None => "name a file, or one of the workflows that `remand workflows` lists".to_string(),
        };
        return Err(CommandFailure::user(format!("no workflow or file is named `{name}`"), hint));
    }
    Ok(check_bytes(name, &read(path)?, roles))
}

/// The program of a workflow that passes all checks.
pub fn program(
    context: &CommandContext<'_>,
    name: &str,
    roles: &Roles,
) -> Result<remand_kernel::Program, CommandFailure> {
    Ok(compiled(context, name, roles)?.program)
}

/// A workflow that passes all checks, compiled.
pub fn compiled(context: &CommandContext<'_>, name: &str, roles: &Roles) -> Result<Compiled, CommandFailure> {
    Ok(with_source(context, name, roles)?.0)
}

/// A workflow that passes all checks, compiled, with its source.
pub fn with_source(
    context: &CommandContext<'_>,
    name: &str,
    roles: &Roles,
) -> Result<(Compiled, SourceText), CommandFailure> {
    let checked = workflow(context, name, roles)?;
    if !checked.accepted() {
        print_diagnostics(&checked);
        return Err(CommandFailure {
            exit: ExitCode::Refused,
            what: format!("{name} is refused"),
            causes: Vec::new(),
            hint: "fix the errors above".to_string(),
        });
    }
    match checked.compiled {
        Some(compiled) => Ok((compiled, checked.source)),
        None => Err(CommandFailure::user(format!("{name} is empty"), "name a workflow file")),
    }
}

/// The program and the file of a workflow, for a new run to pin.
pub fn pinned_workflow(
    context: &CommandContext<'_>,
    name: &str,
    roles: &Roles,
) -> Result<(remand_kernel::Program, PinnedFile), CommandFailure> {
    let checked = workflow(context, name, roles)?;
    if !checked.accepted() {
        print_diagnostics(&checked);
        return Err(CommandFailure {
            exit: ExitCode::Refused,
            ..CommandFailure::user(format!("{name} is refused"), "fix the errors above")
        });
    }
    let file = PinnedFile::new(checked.source.name.clone(), checked.source.text.clone());
    match checked.compiled {
        Some(compiled) => Ok((compiled.program, file)),
        None => Err(CommandFailure::user(format!("{name} is empty"), "name a workflow file")),
    }
}

/// Reads a file, but at most one byte more than a workflow may have.
pub fn read(path: &Path) -> Result<Vec<u8>, CommandFailure> {
    let read = || {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| {
        CommandFailure::user(format!("{} cannot be read", path.display()), "name a file that you can read")
            .caused_by(error.to_string())
    })
}

/// Prints diagnostics for people, in colour on a terminal.
pub fn print_diagnostics(checked: &CheckedWorkflow) {
    for problem in &checked.diagnostics {
        tell(&format!("{}\n", problem.render(&checked.source, style())));
    }
}

pub fn style() -> Style {
    match Ink::of_stderr() {
        Ink::Coloured => Style::Coloured,
        Ink::Plain => Style::Plain,
    }
}

/// Prints the diagnostics of a source and returns the failure for the caller.
pub fn refuse(source: &SourceText, problems: &[diagnostic::Diagnostic]) -> CommandFailure {
    for problem in problems {
        tell(&format!("{}\n", problem.render(source, style())));
    }
    CommandFailure::user(format!("{} cannot be used", source.name), "fix the errors above")
}
