//! The texts of a row: what stands in `${…}` is filled in, and parts depend on what a dispatch may and has.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A text, or texts under a condition. In a list of arguments each text is one; elsewhere they are put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    Text(String),
    When(When),
}

/// Texts that depend on a condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    #[serde(rename = "if")]
    pub condition: Condition,
    #[serde(default)]
    pub then: Vec<Part>,
    #[serde(default, rename = "else")]
    pub otherwise: Vec<Part>,
}

/// What a dispatch may or has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The role may change files.
    Write,
    /// The role may start programs.
    Shell,
    /// The role may use the network.
    Network,
    /// The engine's sandbox holds the process.
    Confined,
    /// A model is chosen.
    Model,
    /// An earlier session is taken up again.
    Session,
    /// A key in the environment signs it in.
    Key,
}

/// A name that can stand in `${…}`; with `|json` behind it, it is fit for the inside of a quoted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    Model,
    Session,
    /// The prompt itself.
    Prompt,
    /// The agent's own home.
    Home,
    /// The folder of the dispatch, with its inputs.
    Folder,
    /// The folder in it that it may always write.
    Out,
    /// The folder that it works in.
    Tree,
    /// The file that the result is expected in.
    Result,
    /// This program.
    Remand,
    /// The file that describes the dispatch.
    Dispatch,
    /// A free TCP port, at which it may listen to itself.
    Port,
}

impl Name {
    const ALL: [(&'static str, Name); 11] = [
        ("model", Name::Model),
        ("session", Name::Session),
        ("prompt", Name::Prompt),
        ("home", Name::Home),
        ("folder", Name::Folder),
        ("out", Name::Out),
        ("tree", Name::Tree),
        ("result", Name::Result),
        ("remand", Name::Remand),
        ("dispatch", Name::Dispatch),
        ("port", Name::Port),
    ];

    fn of(text: &str) -> Option<Name> {
        Name::ALL.iter().find(|(name, _)| *name == text).map(|(_, name)| *name)
    }
}

/// Why a text cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    #[error("`${{{name}}}` stands for nothing; there are {}", known())]
    Unknown { name: String },
    #[error("`${{` has no end in `{text}`")]
    Open { text: String },
}

fn known() -> String {
    let names: Vec<&str> = Name::ALL.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// What a dispatch fills in.
#[derive(Clone, Debug, Default)]
pub struct Filling {
    pub holds: Vec<Condition>,
    pub values: BTreeMap<Name, String>,
}

impl Filling {
    /// The texts of these parts, each by itself.
    pub fn list(&self, parts: &[Part]) -> Vec<String> {
        parts.iter().flat_map(|part| self.texts(part)).collect()
    }

    /// The texts of these parts, put together.
    pub fn text(&self, parts: &[Part]) -> String {
        self.list(parts).concat()
    }

    fn texts(&self, part: &Part) -> Vec<String> {
        match part {
            Part::Text(text) => vec![self.fill(text)],
            Part::When(when) if self.holds.contains(&when.condition) => self.list(&when.then),
            Part::When(when) => self.list(&when.otherwise),
        }
    }

    fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, place, after)) = next(rest) {
            filled.push_str(before);
            let (name, json) = match place.strip_suffix("|json") {
                Some(name) => (name, true),
                None => (place, false),
            };
            let value = Name::of(name).and_then(|name| self.values.get(&name)).map_or("", String::as_str);
            if json {
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

impl Part {
    /// Tells whether this name is to be filled in anywhere.
    pub fn names(&self, name: Name) -> bool {
        match self {
            Part::Text(text) => {
                let mut rest = text.as_str();
                std::iter::from_fn(|| {
                    let (_, place, after) = next(rest)?;
                    rest = after;
                    Some(place)
                })
                .any(|place| Name::of(place.strip_suffix("|json").unwrap_or(place)) == Some(name))
            }
            Part::When(when) => when.then.iter().chain(&when.otherwise).any(|part| part.names(name)),
        }
    }

    /// Proves that everything in it can be filled in.
    pub fn prove(&self) -> Result<(), FillError> {
        match self {
            Part::Text(text) => prove(text),
            Part::When(when) => when.then.iter().chain(&when.otherwise).try_for_each(Part::prove),
        }
    }
}

fn prove(text: &str) -> Result<(), FillError> {
    let mut rest = text;
    while let Some((_, place, after)) = next(rest) {
        let name = place.strip_suffix("|json").unwrap_or(place);
        Name::of(name).ok_or_else(|| FillError::Unknown { name: place.to_string() })?;
        rest = after;
    }
    if rest.contains("${") { Err(FillError::Open { text: text.to_string() }) } else { Ok(()) }
}

/// What is before the next place to fill in, its name, and what is behind it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filling() -> Filling {
        let values = [(Name::Model, "m-1"), (Name::Home, "/a \"b\"")];
        Filling {
            holds: vec![Condition::Write],
            values: values.map(|(name, value)| (name, value.to_string())).into(),
        }
    }

    fn parts(toml: &str) -> Vec<Part> {
        #[derive(Deserialize)]
        struct Holder {
            parts: Vec<Part>,
        }
        toml::from_str::<Holder>(toml).map(|holder| holder.parts).unwrap_or_default()
    }

    #[test]
    fn conditions_choose_and_names_are_filled_in() {
        let all = parts(
            r#"parts = ["-m", "${model}", {if = "write", then = ["-w"], else = ["-r"]}, {if = "shell", then = ["-s"]}, '{"home":"${home|json}","x":{"y":1}}']"#,
        );
        let expected = ["-m", "m-1", "-w", r#"{"home":"/a \"b\"","x":{"y":1}}"#];
        assert_eq!(filling().list(&all), expected);
        assert_eq!(filling().text(&all[..2]), "-mm-1");
    }

    #[test]
    fn what_stands_for_nothing_is_refused() {
        let wrong = |text: &str| Part::Text(text.to_string()).prove().err().map(|error| error.to_string());
        assert_eq!(wrong("${home}/${result|json}"), None);
        assert!(wrong("${hoem}").is_some_and(|error| error.contains("`${hoem}`") && error.contains("home")));
        assert!(wrong("${home").is_some_and(|error| error.contains("no end")));
    }
}
