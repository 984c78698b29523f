//! One layer of the configuration: its values with their origins, and its problems.

use super::keys::{self, KEYS};
use super::problem::{ConfigProblem, FilePosition, ValueOrigin, suggest};
use super::sources::Flag;
use super::value::{self, ConfigValue, ValueProblem};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The path of a key, with a name in place of each `*`.
pub type KeyPath = Vec<String>;

/// A value and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcedValue {
    pub value: ConfigValue,
    pub origin: ValueOrigin,
}

/// The values and problems of one source.
#[derive(Debug, Default)]
pub struct Layer {
    pub settings: BTreeMap<KeyPath, SourcedValue>,
    pub problems: Vec<ConfigProblem>,
}

/// The built-in values.
pub fn built_in() -> Layer {
    let mut layer = Layer::default();
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let decoded = match DeValue::parse(key.default) {
            Ok(parsed) => value::decode(key.shape, &parsed),
            Err(error) => Err(ValueProblem { span: 0..0, message: error.to_string(), remedy: String::new() }),
        };
        layer.put(split(key.path), decoded, |_| ValueOrigin::BuiltIn);
    }
    layer
}

/// The layer of a file; `origin` turns a position into the origin of a value.
pub fn file(name: &str, text: &str, origin: fn(FilePosition) -> ValueOrigin) -> Layer {
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

/// The layer of the environment. Variables that match no key are ignored.
pub fn environment(variables: &BTreeMap<String, String>) -> Layer {
    let mut layer = Layer::default();
    for key in KEYS {
        let Some(name) = key.variable() else { continue };
        if let Some(text) = variables.get(&name) {
            layer.put(split(key.path), value::decode_text(key.shape, text), |_| {
                ValueOrigin::Environment(name.clone())
            });
        }
    }
    layer
}

/// The layer of the command line.
pub fn flags(flags: &[Flag]) -> Layer {
    let mut layer = Layer::default();
    for flag in flags {
        let origin = || ValueOrigin::Flag(flag.name.clone());
        let path = split(&flag.key);
        match keys::find(&path) {
            Some(key) => layer.put(path, value::decode_text(key.shape, &flag.value), |_| origin()),
            None => {
                let all: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
                let message = format!("unknown key `{}`", flag.key);
                layer.problems.push(ConfigProblem {
                    origin: origin(),
                    message,
                    remedy: suggest(&flag.key, &all),
                });
            }
        }
    }
    layer
}

impl Layer {
    fn put(
        &mut self,
        path: KeyPath,
        decoded: Result<ConfigValue, ValueProblem>,
        origin: impl Fn(Range<usize>) -> ValueOrigin,
    ) {
        match decoded {
            Ok(value) => {
                self.settings.insert(path, SourcedValue { value, origin: origin(0..0) });
            }
            Err(ValueProblem { span, message, remedy }) => {
                let message = format!("`{}`: {message}", path.join("."));
                self.problems.push(ConfigProblem { origin: origin(span), message, remedy });
            }
        }
    }
}

struct Reader<'t> {
    name: &'t str,
    text: &'t str,
    origin: fn(FilePosition) -> ValueOrigin,
    layer: Layer,
}

impl Reader<'_> {
    fn table(&mut self, path: &mut KeyPath, table: &DeTable<'_>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            self.entry(path, key.span(), value);
            path.pop();
        }
    }

    fn entry(&mut self, path: &mut KeyPath, key_span: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let name = path.last().cloned().unwrap_or_default();
        let parent = path[..path.len() - 1].to_vec();
        let siblings = keys::known_keys(&parent);
        let is_user_chosen = keys::is_section(path) && !siblings.contains(&name.as_str());
        if let Some(key) = keys::find(path) {
            let start = FilePosition::of(self.name, self.text, key_span.start);
            match value::decode(key.shape, value) {
                Ok(value) => {
                    let origin = (self.origin)(start);
                    self.layer.settings.insert(path.clone(), SourcedValue { value, origin });
                }
                Err(ValueProblem { span, message, remedy }) => {
                    self.problem(span, format!("`{}`: {message}", path.join(".")), remedy);
                }
            }
        } else if let DeValue::Table(table) = value.get_ref()
            && keys::is_section(path)
        {
            if is_user_chosen && !is_valid_name(&parent, &name) {
                let remedy =
                    "use letters, digits, `-` and `_`, and in roles and checks also `:` and `/`".to_string();
                return self.problem(key_span, format!("`{name}` is not a valid name"), remedy);
            }
            self.table(path, table);
        } else if keys::is_section(path) && !is_user_chosen {
            let remedy = format!("write `[{}]` and its keys below", path.join("."));
            self.problem(value.span(), format!("`{}` is a table", path.join(".")), remedy);
        } else {
            let table = if parent.is_empty() { String::new() } else { format!(" in `{}`", parent.join(".")) };
            let remedy = if siblings.is_empty() {
                format!("write a table such as `[{}.NAME]`", parent.join("."))
            } else {
                suggest(&name, &siblings)
            };
            self.problem(key_span, format!("unknown key `{name}`{table}"), remedy);
        }
    }

    fn problem(&mut self, span: Range<usize>, message: String, remedy: String) {
        let origin = (self.origin)(FilePosition::of(self.name, self.text, span.start));
        self.layer.problems.push(ConfigProblem { origin, message, remedy });
    }
}

fn split(path: &str) -> KeyPath {
    path.split('.').map(str::to_string).collect()
}

/// Whether a table may have this name. Names of roles, checks and models may contain more punctuation than others.
fn is_valid_name(parent: &[String], name: &str) -> bool {
    let (name, punctuation) = match parent.first().map(String::as_str) {
        Some("roles" | "checks") => (name, "/:."),
        Some("prices") => (name.strip_suffix('*').unwrap_or(name), "/:.@"),
        Some(_) | None => (name, ""),
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || punctuation.contains(c);
    !name.is_empty() && name.chars().all(is_allowed)
}
