//! One layer of the configuration: settings with their origins, and what is wrong with it.

use super::keys::{self, KEYS};
use super::problem::{At, Origin, Problem, suggest};
use super::sources::Flag;
use super::value::{self, Misfit, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The path of a key with its names filled in.
pub type Path = Vec<String>;

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub value: Value,
    pub origin: Origin,
}

/// What one layer says.
#[derive(Debug, Default)]
pub struct Layer {
    pub settings: BTreeMap<Path, Setting>,
    pub problems: Vec<Problem>,
}

/// The built-in values.
pub fn built_in() -> Layer {
    let mut layer = Layer::default();
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let decoded = match DeValue::parse(key.default) {
            Ok(parsed) => value::decode(key.shape, &parsed),
            Err(error) => Err(Misfit { span: 0..0, message: error.to_string(), remedy: String::new() }),
        };
        layer.put(split(key.path), decoded, |_| Origin::BuiltIn);
    }
    layer
}

/// What a file says; `origin` tells whose file it is.
pub fn file(name: &str, text: &str, origin: fn(At) -> Origin) -> Layer {
    let mut reader = Reader { name, text, origin, layer: Layer::default() };
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        reader.table(&mut Vec::new(), table.get_ref());
    }
    for error in errors {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        reader.problem(error.span().unwrap_or(0..0), message, "write TOML 1.1".to_string());
    }
    reader.layer
}

/// What the environment says; variables that are no keys belong to others.
pub fn environment(variables: &BTreeMap<String, String>) -> Layer {
    let mut layer = Layer::default();
    for key in KEYS {
        let Some(name) = key.variable() else { continue };
        if let Some(text) = variables.get(&name) {
            layer.put(split(key.path), value::decode_text(key.shape, text), |_| {
                Origin::Environment(name.clone())
            });
        }
    }
    layer
}

/// What the command line says.
pub fn flags(flags: &[Flag]) -> Layer {
    let mut layer = Layer::default();
    for flag in flags {
        let origin = || Origin::Flag(flag.name.clone());
        let path = split(&flag.key);
        match keys::find(&path) {
            Some(key) => layer.put(path, value::decode_text(key.shape, &flag.value), |_| origin()),
            None => {
                let all: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
                let message = format!("`{}` is no key", flag.key);
                layer.problems.push(Problem { origin: origin(), message, remedy: suggest(&flag.key, &all) });
            }
        }
    }
    layer
}

impl Layer {
    fn put(&mut self, path: Path, decoded: Result<Value, Misfit>, origin: impl Fn(Range<usize>) -> Origin) {
        match decoded {
            Ok(value) => {
                self.settings.insert(path, Setting { value, origin: origin(0..0) });
            }
            Err(Misfit { span, message, remedy }) => {
                let message = format!("`{}`: {message}", path.join("."));
                self.problems.push(Problem { origin: origin(span), message, remedy });
            }
        }
    }
}

struct Reader<'t> {
    name: &'t str,
    text: &'t str,
    origin: fn(At) -> Origin,
    layer: Layer,
}

impl Reader<'_> {
    fn table(&mut self, path: &mut Path, table: &DeTable<'_>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            self.entry(path, key.span(), value);
            path.pop();
        }
    }

    fn entry(&mut self, path: &mut Path, at: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let name = path.last().cloned().unwrap_or_default();
        let parent = path[..path.len() - 1].to_vec();
        let siblings = keys::known(&parent);
        let is_chosen = keys::is_section(path) && !siblings.contains(&name.as_str());
        if let Some(key) = keys::find(path) {
            let start = At::of(self.name, self.text, at.start);
            match value::decode(key.shape, value) {
                Ok(value) => {
                    let origin = (self.origin)(start);
                    self.layer.settings.insert(path.clone(), Setting { value, origin });
                }
                Err(Misfit { span, message, remedy }) => {
                    self.problem(span, format!("`{}`: {message}", path.join(".")), remedy);
                }
            }
        } else if let DeValue::Table(table) = value.get_ref()
            && keys::is_section(path)
        {
            if is_chosen && !is_name(&parent, &name) {
                let remedy =
                    "use letters, digits, `-` and `_`; roles and checks may have `:` and `/` too".to_string();
                return self.problem(at, format!("`{name}` is no name"), remedy);
            }
            self.table(path, table);
        } else if keys::is_section(path) && !is_chosen {
            let remedy = format!("write `[{}]` and its keys below", path.join("."));
            self.problem(value.span(), format!("`{}` is a table", path.join(".")), remedy);
        } else {
            let table = if parent.is_empty() { String::new() } else { format!(" in `{}`", parent.join(".")) };
            let remedy = if siblings.is_empty() {
                format!("write a table such as `[{}.NAME]`", parent.join("."))
            } else {
                suggest(&name, &siblings)
            };
            self.problem(at, format!("`{name}` is no key{table}"), remedy);
        }
    }

    fn problem(&mut self, span: Range<usize>, message: String, remedy: String) {
        let origin = (self.origin)(At::of(self.name, self.text, span.start));
        self.layer.problems.push(Problem { origin, message, remedy });
    }
}

fn split(path: &str) -> Path {
    path.split('.').map(str::to_string).collect()
}

/// Tells whether a table may have this name. Roles have modes and items, checks have folders, and makers of models are free in their names.
fn is_name(parent: &[String], name: &str) -> bool {
    let (name, more) = match parent.first().map(String::as_str) {
        Some("roles" | "checks") => (name, "/:."),
        Some("prices") => (name.strip_suffix('*').unwrap_or(name), "/:.@"),
        Some(_) | None => (name, ""),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || more.contains(c);
    !name.is_empty() && name.chars().all(fits)
}
