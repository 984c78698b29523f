//! The merged settings as typed values.

use super::layer::{KeyPath, SourcedValue};
use super::role_choice::RoleChoice;
use super::value::ConfigValue;
use remand_agents::driver::Price;
use remand_checks::Plant;
use remand_checks::{CheckChoice, CommandLine};
use remand_kernel::evidence::Tier;
use std::collections::BTreeMap;
use std::time::Duration;

/// The parts of a key; a name that the user chose may contain dots.
pub fn path(key: &str) -> KeyPath {
    let Some((section, rest)) = key.split_once('.') else { return vec![key.to_string()] };
    let parts = match rest.rsplit_once('.') {
        Some((name, last)) => vec![section, name, last],
        None => vec![section, rest],
    };
    parts.into_iter().map(str::to_string).collect()
}

/// Typed access to the merged settings. The layers have checked the shape of every value.
pub struct TypedSettings<'s> {
    pub settings: &'s BTreeMap<KeyPath, SourcedValue>,
}

impl TypedSettings<'_> {
    fn get(&self, key: &str) -> Option<&ConfigValue> {
        self.settings.get(&path(key)).map(|setting| &setting.value)
    }

    pub fn text(&self, key: &str) -> Option<String> {
        if let Some(ConfigValue::Text(text)) = self.get(key) { Some(text.clone()) } else { None }
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        if let Some(ConfigValue::Flag(flag)) = self.get(key) { Some(*flag) } else { None }
    }

    pub fn count(&self, key: &str) -> Option<u64> {
        if let Some(ConfigValue::Count(count)) = self.get(key) { Some(*count) } else { None }
    }

    pub fn money(&self, key: &str) -> Option<u64> {
        if let Some(ConfigValue::Money(micros)) = self.get(key) { Some(*micros) } else { None }
    }

    pub fn time(&self, key: &str) -> Option<Duration> {
        if let Some(ConfigValue::Time(time)) = self.get(key) { Some(*time) } else { None }
    }

    pub fn tier(&self, key: &str) -> Option<Tier> {
        if let Some(ConfigValue::Tier(tier)) = self.get(key) { Some(*tier) } else { None }
    }

    pub fn words(&self, key: &str) -> Option<Vec<String>> {
        if let Some(ConfigValue::Words(words)) = self.get(key) { Some(words.clone()) } else { None }
    }

    pub fn command(&self, key: &str) -> Option<CommandLine> {
        if let Some(ConfigValue::Command(command)) = self.get(key) { Some(command.clone()) } else { None }
    }

    /// Reads every table of a section, by name.
    pub fn tables<T>(&self, section: &str, read: impl Fn(&str) -> T) -> BTreeMap<String, T> {
        self.settings
            .keys()
            .filter(|path| path.len() > 2 && path[0] == section)
            .map(|path| (path[1].clone(), read(&path[1])))
            .collect()
    }

    pub fn check(&self, name: &str) -> CheckChoice {
        let key = |key: &str| format!("checks.{name}.{key}");
        CheckChoice {
            command: self.command(&key("command")),
            tier: self.tier(&key("tier")),
            quick: self.flag(&key("quick")),
            time: self.time(&key("time")),
            parser: self.text(&key("parser")),
            report: self.text(&key("report")),
            needs: self.words(&key("needs")),
            folder: self.text(&key("folder")),
            network: self.flag(&key("network")),
            memory: self.count(&key("memory")),
            reruns: self.text(&key("reruns")).and_then(|count| count.parse().ok()),
            plant: self.plant(name),
            off: self.flag(&key("off")).unwrap_or(false),
        }
    }

    fn plant(&self, name: &str) -> Option<Plant> {
        let part = |part: &str| {
            let path: KeyPath = ["checks", name, "plant", part].map(str::to_string).to_vec();
            let value = &self.settings.get(&path)?.value;
            if let ConfigValue::Text(text) = value { Some(text.clone()) } else { None }
        };
        Some(Plant { file: part("file")?, text: part("text")? })
    }

    pub fn role(&self, name: &str) -> RoleChoice {
        let key = |key: &str| format!("roles.{name}.{key}");
        RoleChoice {
            agent: self.text(&key("agent")),
            model: self.text(&key("model")),
            time: self.time(&key("time")),
            file: self.text(&key("file")),
        }
    }

    pub fn price(&self, model: &str) -> Price {
        let kind = |kind: &str| self.money(&format!("prices.{model}.{kind}"));
        Price { input: kind("input"), output: kind("output"), cached: kind("cached"), stored: kind("stored") }
    }

    /// One table of a section whose tables are rows of data, as it is written.
    pub fn row(&self, section: &str, name: &str) -> toml::Table {
        let settings =
            self.settings.iter().filter(|(path, _)| path.len() > 2 && path[0] == section && path[1] == name);
        settings
            .filter_map(|(path, setting)| match &setting.value {
                ConfigValue::Free(value) => Some((path[2].clone(), value.clone())),
                ConfigValue::Words(words) => {
                    let words = words.iter().cloned().map(toml::Value::String).collect();
                    Some((path[2].clone(), toml::Value::Array(words)))
                }
                _ => None,
            })
            .collect()
    }
}
