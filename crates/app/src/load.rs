//! Finding and reading workflows and roles.

use crate::commands::Context;
use crate::exit::{Exit, Failure, tell};
use crate::table::Ink;
use crate::workplace::{environment, here, of_config};
use remand_runtime::config::{Config, Sources};
use remand_runtime::pinned::PinnedFile;
use remand_workflow::compile::Compiled;
use remand_workflow::diagnostic::Style;
use remand_workflow::foreign::{self, Format};
use remand_workflow::roles::Roles;
use remand_workflow::source::{LARGEST, Source};
use remand_workflow::{Checked, check, check_bytes, diagnostic, shipped, yaml};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where a repository keeps roles of its own.
pub const OWN_ROLES: &str = ".remand/roles";

/// Where a repository keeps workflows of its own.
const OWN_WORKFLOWS: &str = ".remand/workflows";

/// A folder of the repository's own, found upwards from where the user stands.
fn own(context: &Context<'_>, folder: &str) -> Option<PathBuf> {
    let here = here(context);
    let root = here.ancestors().find(|above| above.join(folder).is_dir() || above.join(".git").exists())?;
    Some(root.join(folder)).filter(|own| own.is_dir())
}

/// The shipped roles, with the user's own on top, and on these what the configuration names.
pub fn roles(context: &Context<'_>) -> Result<Roles, Failure> {
    let mut roles = own_roles(context)?;
    let Some(root) = root(context) else {
        return Ok(roles);
    };
    let config = Config::load(&Sources::of(&root, environment())).map_err(|error| of_config(&error))?;
    for (title, choice) in &config.roles {
        if let Some(file) = &choice.file {
            take_over(&mut roles, title, &root, file)?;
        }
    }
    Ok(roles)
}

/// Puts a file that the configuration names in the place of a role; what of it is not used is told.
fn take_over(roles: &mut Roles, title: &str, root: &Path, file: &str) -> Result<(), Failure> {
    let source = source(&root.join(file), file)?;
    let tool = match foreign::format(&source) {
        Some(Format::Of(tool)) => tool,
        Some(Format::Ours) if !title.contains('/') => {
            return roles.add(title, &source).map_err(|problems| refused(&source, &problems));
        }
        Some(Format::Ours) => {
            let what = format!("{file} is a whole role, and `{title}` is one mode of it");
            return Err(Failure::user(what, "name it for the role, or put it into .remand/roles"));
        }
        None => {
            let hint = "name a file in .claude/agents, .github/agents or .opencode/agents, or see `remand import --help`";
            return Err(Failure::user(format!("{file} does not say which tool it is for"), hint));
        }
    };
    let adopted = foreign::read(tool, &source).and_then(|foreign| roles.adopt(title, &foreign, &source));
    for unused in adopted.map_err(|problems| refused(&source, &problems))? {
        tell(&format!("note: {file}:{}: {unused}", unused.line));
    }
    Ok(())
}

/// The root of the repository that one stands in.
pub fn root(context: &Context<'_>) -> Option<PathBuf> {
    here(context).ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf)
}

/// The text of a file, under a name for messages.
pub fn source(path: &Path, name: &str) -> Result<Source, Failure> {
    yaml::decode(name, &read(path)?)
        .map_err(|undecodable| refused(&undecodable.source, &[undecodable.problem]))
}

/// The shipped roles, with those of the repository or of the command line on top.
pub fn own_roles(context: &Context<'_>) -> Result<Roles, Failure> {
    let mut roles = Roles::shipped();
    let Some(own) = context.roles.map(PathBuf::from).or_else(|| own(context, OWN_ROLES)) else {
        return Ok(roles);
    };
    let entries = std::fs::read_dir(&own).map_err(|error| {
        Failure::user(
            format!("the roles in {} cannot be read", own.display()),
            "name a folder with role files",
        )
        .caused_by(error.to_string())
    })?;
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.sort();
    for path in files {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let source = source(&path, &path.display().to_string())?;
        roles.add(&name, &source).map_err(|problems| refused(&source, &problems))?;
    }
    Ok(roles)
}

/// The names of the repository's own workflows.
pub fn own_workflows(context: &Context<'_>) -> Vec<String> {
    let folder = own(context, OWN_WORKFLOWS);
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let mut names: Vec<String> =
        files.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// Reads and checks a workflow: one of the repository's own by its name, a file, or a shipped one by its name.
pub fn workflow(context: &Context<'_>, name: &str, roles: &Roles) -> Result<Checked, Failure> {
    let path = Path::new(name);
    let is_name = !name.contains(['/', '.']);
    if let Some(own) = own(context, OWN_WORKFLOWS)
        .map(|folder| folder.join(format!("{name}.yaml")))
        .filter(|own| is_name && own.is_file())
    {
        return Ok(check_bytes(&own.display().to_string(), &read(&own)?, roles));
    }
    if !path.is_file()
        && let Some(text) = shipped::workflow(name)
    {
        return Ok(check(Source::new(format!("{name}.yaml"), text), roles));
    }
    if !path.exists() {
        let own = own_workflows(context);
        let shipped = shipped::WORKFLOWS.iter().map(|(name, _)| *name);
        let hint = match diagnostic::nearest(name, shipped.chain(own.iter().map(String::as_str))) {
            Some(near) => format!("did you mean `{near}`? `remand workflows` lists them"),
            None => "name a file, or one of the workflows that `remand workflows` lists".to_string(),
        };
        return Err(Failure::user(format!("there is no workflow and no file `{name}`"), hint));
    }
    Ok(check_bytes(name, &read(path)?, roles))
}

/// A workflow that must be accepted for the command to make sense.
pub fn accepted(context: &Context<'_>, name: &str, roles: &Roles) -> Result<remand_kernel::Program, Failure> {
    Ok(proven(context, name, roles)?.program)
}

/// An accepted workflow with its file.
pub fn proven(context: &Context<'_>, name: &str, roles: &Roles) -> Result<Compiled, Failure> {
    let checked = workflow(context, name, roles)?;
    if !checked.accepted() {
        print_diagnostics(&checked);
        return Err(Failure {
            exit: Exit::Refused,
            what: format!("{name} is refused"),
            causes: Vec::new(),
            hint: "remove the errors above".to_string(),
        });
    }
    match checked.compiled {
        Some(compiled) => Ok(compiled),
        None => Err(Failure::user(format!("{name} is empty"), "name a workflow file")),
    }
}

/// A workflow that a run is to be pinned to.
pub fn pinned(
    context: &Context<'_>,
    name: &str,
    roles: &Roles,
) -> Result<(remand_kernel::Program, PinnedFile), Failure> {
    let checked = workflow(context, name, roles)?;
    if !checked.accepted() {
        print_diagnostics(&checked);
        return Err(Failure {
            exit: Exit::Refused,
            ..Failure::user(format!("{name} is refused"), "remove the errors above")
        });
    }
    let file = PinnedFile::new(checked.source.name.clone(), checked.source.text.clone());
    match checked.compiled {
        Some(compiled) => Ok((compiled.program, file)),
        None => Err(Failure::user(format!("{name} is empty"), "name a workflow file")),
    }
}

/// Reads a file, but not much more of it than a workflow may have.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = || {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| {
        Failure::user(format!("{} cannot be read", path.display()), "name a file that you may read")
            .caused_by(error.to_string())
    })
}

/// Prints diagnostics for people, in colour on a terminal.
pub fn print_diagnostics(checked: &Checked) {
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

/// A source that is refused, with its diagnostics printed.
pub fn refused(source: &Source, problems: &[diagnostic::Diagnostic]) -> Failure {
    for problem in problems {
        tell(&format!("{}\n", problem.render(source, style())));
    }
    Failure::user(format!("{} cannot be used", source.name), "remove the errors above")
}
