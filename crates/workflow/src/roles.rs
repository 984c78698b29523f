//! Role contracts: the front matter of role files, shipped and the user's own.

use crate::diagnostic::{Code, Diagnostic, tidy};
use crate::fields::Fields;
use crate::source::Source;
use crate::yaml;
use std::collections::BTreeMap;

/// What a role returns and may change, in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSpec {
    /// `check`, or `check/code` for a mode.
    pub title: String,
    pub about: String,
    /// The happy verdict first, then from mild to grave.
    pub says: Vec<String>,
    /// The verdict that counts as the happy one when all its findings are minor.
    pub mild: Option<String>,
    pub findings: bool,
    pub by_kind: bool,
    pub changes: Vec<String>,
    pub states_approach: bool,
    pub guarded: bool,
    pub lists: Vec<String>,
}

/// Roles by title.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    by_title: BTreeMap<String, RoleSpec>,
}

impl Roles {
    /// The roles that Remand ships.
    pub fn shipped() -> Roles {
        let mut roles = Roles::default();
        for (name, text) in crate::shipped::ROLES {
            // A test holds the shipped files to be free of problems.
            let _ = roles.add(name, &Source::new(format!("roles/{name}.md"), *text));
        }
        roles
    }

    pub fn get(&self, title: &str) -> Option<&RoleSpec> {
        self.by_title.get(title)
    }

    pub fn titles(&self) -> impl Iterator<Item = &str> + Clone {
        self.by_title.keys().map(String::as_str)
    }

    pub fn all(&self) -> impl Iterator<Item = &RoleSpec> {
        self.by_title.values()
    }

    /// Adds a role file, in place of one of the same name.
    pub fn add(&mut self, name: &str, source: &Source) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let specs = read(name, source, &mut problems);
        if !problems.is_empty() {
            return Err(tidy(problems));
        }
        for spec in specs {
            self.by_title.insert(spec.title.clone(), spec);
        }
        Ok(())
    }
}

fn read(name: &str, source: &Source, problems: &mut Vec<Diagnostic>) -> Vec<RoleSpec> {
    let Some(front) = front_matter(source) else {
        let remedy = "begin the file with `---`, the contract, and `---`";
        problems.push(Diagnostic::error(
            Code::MissingKey,
            crate::source::Span::default(),
            "the role file has no front matter",
            remedy,
        ));
        return Vec::new();
    };
    let Some(root) = yaml::parse(&front, problems) else {
        return Vec::new();
    };
    let mut fields = Fields::open(&root, format!("role `{name}`"), problems);
    let modes = fields.entries("modes").unwrap_or(&[]);
    let mut specs: Vec<RoleSpec> = read_contract(name.to_string(), fields).into_iter().collect();
    for (key, node) in modes {
        let fields = Fields::open(node, format!("mode `{}`", key.name), problems);
        specs.extend(read_contract(format!("{name}/{}", key.name), fields));
    }
    specs
}

fn read_contract(title: String, mut fields: Fields<'_, '_>) -> Option<RoleSpec> {
    let about = fields.required_text("about", "One sentence on what the role does.");
    let says = fields.texts("says");
    if says.is_empty() {
        let message = format!("`{title}` says nothing");
        let problem = Diagnostic::error(
            Code::MissingKey,
            crate::fields::head(fields.span()),
            message,
            "list its verdicts, the happy one first: `says: [approve, needs-revision]`",
        );
        fields.report(problem);
    }
    let mild = fields.text("mild");
    if let Some(mild) = &mild
        && !says.iter().any(|verdict| verdict.it == mild.it)
    {
        let message = format!("`{}` is not among what the role says", mild.it);
        fields.report(Diagnostic::error(Code::UnknownSignal, mild.span, message, "name one of its verdicts"));
    }
    let plain = |texts: Vec<crate::source::At<String>>| texts.into_iter().map(|text| text.it).collect();
    let spec = RoleSpec {
        title,
        about: about?.it,
        says: plain(says),
        mild: mild.map(|mild| mild.it),
        findings: fields.flag("findings"),
        by_kind: fields.flag("by-kind"),
        changes: plain(fields.texts("changes")),
        states_approach: fields.flag("states-approach"),
        guarded: fields.flag("guarded"),
        lists: plain(fields.texts("lists")),
    };
    fields.finish();
    Some(spec)
}

/// The text between the first two `---` lines, with blank lines kept so that places stay right.
fn front_matter(source: &Source) -> Option<Source> {
    let rest = source.text.strip_prefix("---\n")?;
    let end = rest.find("\n---")?;
    Some(Source::new(source.name.clone(), format!("\n{}\n", &rest[..end])))
}
