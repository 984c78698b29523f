//! Templates in a row: placeholders such as `${model}` are filled in, and parts can depend on a condition.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A string or a conditional list of strings. Each string is one argument; outside of `arguments`, they are joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Template {
    Text(String),
    When(ConditionalTemplate),
}

/// Strings that depend on a condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionalTemplate {
    #[serde(rename = "if")]
    pub condition: LaunchCondition,
    #[serde(default)]
    pub then: Vec<Template>,
    #[serde(default, rename = "else")]
    pub otherwise: Vec<Template>,
}

/// A condition on a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchCondition {
    /// The role may change files.
    Write,
    /// The role may start programs.
    Shell,
    /// The role may use the network.
    Network,
    /// The engine's sandbox confines the process.
    Confined,
    /// A model is chosen.
    Model,
    /// The dispatch resumes an earlier session.
    Session,
    /// The environment has a key for the agent's service.
    Key,
}

/// A name inside `${…}`. A trailing `|json` escapes the value for use inside a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placeholder {
    Model,
    Session,
    Prompt,
    /// The agent's home directory.
    Home,
    /// The folder of the dispatch, which holds its inputs.
    Folder,
    /// The folder that the agent may always write to.
    Out,
    /// The agent's working directory.
    Tree,
    /// The result file.
    Result,
    /// The path of this program.
    Remand,
    /// The file that describes the dispatch.
    Dispatch,
    /// A free TCP port on which the agent may listen.
    Port,
}

impl Placeholder {
    const ALL: [(&'static str, Placeholder); 11] = [
        ("model", Placeholder::Model),
        ("session", Placeholder::Session),
        ("prompt", Placeholder::Prompt),
        ("home", Placeholder::Home),
        ("folder", Placeholder::Folder),
        ("out", Placeholder::Out),
        ("tree", Placeholder::Tree),
        ("result", Placeholder::Result),
        ("remand", Placeholder::Remand),
        ("dispatch", Placeholder::Dispatch),
        ("port", Placeholder::Port),
    ];

    fn parse(text: &str) -> Option<Placeholder> {
        Placeholder::ALL.iter().find(|(name, _)| *name == text).map(|(_, name)| *name)
    }
}

/// Why a template is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("unknown placeholder `${{{name}}}`; use one of {}", placeholder_names())]
    Unknown { name: String },
    #[error("`${{` is not closed in `{text}`")]
    Open { text: String },
}

fn placeholder_names() -> String {
    let names: Vec<&str> = Placeholder::ALL.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// The conditions that hold for a dispatch, and its values for placeholders.
#[derive(Clone, Debug, Default)]
pub struct TemplateValues {
    pub true_conditions: Vec<LaunchCondition>,
    pub values: BTreeMap<Placeholder, String>,
}

impl TemplateValues {
    /// The filled strings as a list.
    pub fn fill_list(&self, parts: &[Template]) -> Vec<String> {
        parts.iter().flat_map(|part| self.fill_part(part)).collect()
    }

    /// The filled strings, concatenated.
    pub fn fill_text(&self, parts: &[Template]) -> String {
        self.fill_list(parts).concat()
    }

    fn fill_part(&self, part: &Template) -> Vec<String> {
        match part {
            Template::Text(text) => vec![self.fill_string(text)],
            Template::When(when) if self.true_conditions.contains(&when.condition) => {
                self.fill_list(&when.then)
            }
            Template::When(when) => self.fill_list(&when.otherwise),
        }
    }

    fn fill_string(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, placeholder, after)) = split_at_placeholder(rest) {
            filled.push_str(before);
            let (name, is_json) = match placeholder.strip_suffix("|json") {
                Some(name) => (name, true),
                None => (placeholder, false),
            };
            let value =
                Placeholder::parse(name).and_then(|name| self.values.get(&name)).map_or("", String::as_str);
            if is_json {
                let quoted = serde_json::Value::from(value).to_string();
                filled.push_str(&quoted[1..quoted.len() - 1]);
            } else {
                filled.push_str(value);
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

impl Template {
    /// Whether the template contains this placeholder.
    pub fn contains(&self, name: Placeholder) -> bool {
        match self {
            Template::Text(text) => {
                let mut rest = text.as_str();
                std::iter::from_fn(|| {
                    let (_, placeholder, after) = split_at_placeholder(rest)?;
                    rest = after;
                    Some(placeholder)
                })
                .any(|placeholder| {
                    Placeholder::parse(placeholder.strip_suffix("|json").unwrap_or(placeholder)) == Some(name)
                })
            }
            Template::When(when) => when.then.iter().chain(&when.otherwise).any(|part| part.contains(name)),
        }
    }

    /// Checks that every placeholder is known.
    pub fn check(&self) -> Result<(), TemplateError> {
        match self {
            Template::Text(text) => check_text(text),
            Template::When(when) => when.then.iter().chain(&when.otherwise).try_for_each(Template::check),
        }
    }
}

fn check_text(text: &str) -> Result<(), TemplateError> {
    let mut rest = text;
    while let Some((_, placeholder, after)) = split_at_placeholder(rest) {
        let name = placeholder.strip_suffix("|json").unwrap_or(placeholder);
        Placeholder::parse(name).ok_or_else(|| TemplateError::Unknown { name: placeholder.to_string() })?;
        rest = after;
    }
    if rest.contains("${") { Err(TemplateError::Open { text: text.to_string() }) } else { Ok(()) }
}

/// Splits a string at its next placeholder: the text before it, its name, and the text after it.
fn split_at_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template_values() -> TemplateValues {
        let values = [(Placeholder::Model, "m-1"), (Placeholder::Home, "/a \"b\"")];
        TemplateValues {
            true_conditions: vec![LaunchCondition::Write],
            values: values.map(|(name, value)| (name, value.to_string())).into(),
        }
    }

    fn parts(toml: &str) -> Vec<Template> {
        #[derive(Deserialize)]
        struct Holder {
            parts: Vec<Template>,
        }
        toml::from_str::<Holder>(toml).map(|holder| holder.parts).unwrap_or_default()
    }

    #[test]
    fn conditions_select_parts_and_placeholders_are_filled_in() {
        let all = parts(
            r#"parts = ["-m", "${model}", {if = "write", then = ["-w"], else = ["-r"]}, {if = "shell", then = ["-s"]}, '{"home":"${home|json}","x":{"y":1}}']"#,
        );
        let expected = ["-m", "m-1", "-w", r#"{"home":"/a \"b\"","x":{"y":1}}"#];
        assert_eq!(template_values().fill_list(&all), expected);
        assert_eq!(template_values().fill_text(&all[..2]), "-mm-1");
    }

    #[test]
    fn unknown_and_unclosed_placeholders_are_rejected() {
        let wrong =
            |text: &str| Template::Text(text.to_string()).check().err().map(|error| error.to_string());
        assert_eq!(wrong("${home}/${result|json}"), None);
        assert!(wrong("${hoem}").is_some_and(|error| error.contains("`${hoem}`") && error.contains("home")));
        assert!(wrong("${home").is_some_and(|error| error.contains("not closed")));
    }
}
