//! Writes a role as a file in our format.

use super::{RoleFile, RoleSpec, Roles};
use crate::permissions::Writable;
use std::fmt::Write;

impl Roles {
    /// The file of a role with the effective contracts of all its modes. Reading it gives the same role.
    pub fn to_file(&self, name: &str) -> Option<String> {
        let plain = self.get(name)?;
        let mut text = format!("---\n{}", contract(plain, ""));
        let mode_prefix = format!("{name}/");
        let modes: Vec<&RoleSpec> = self.all().filter(|spec| spec.title.starts_with(&mode_prefix)).collect();
        if !modes.is_empty() {
            text.push_str("modes:\n");
        }
        for mode in &modes {
            let _ = write!(text, "  {}:\n{}", &mode.title[mode_prefix.len()..], contract(mode, "    "));
        }
        let _ = write!(text, "---\n\n{}", self.prompt(name)?);
        let file = self.by_name.get(name);
        for mode in modes {
            let section = |file: &RoleFile| {
                file.prompt.mode_section(&mode.title[mode_prefix.len()..]).map(str::to_string)
            };
            if let Some(section) = file.and_then(section) {
                let _ = write!(text, "\n{section}\n");
            }
        }
        Some(text)
    }
}

/// One contract, with every key that differs from its default.
fn contract(spec: &RoleSpec, indent: &str) -> String {
    let mut text = String::new();
    let mut key = |name: &str, value: String| {
        let _ = writeln!(text, "{indent}{name}: {value}");
    };
    let list = |names: &[String]| format!("[{}]", names.join(", "));
    key("about", quoted(&spec.about));
    key("says", list(&spec.says));
    if let Some(mild) = &spec.mild {
        key("mild", mild.clone());
    }
    let flags = [
        ("findings", spec.findings),
        ("by-kind", spec.by_kind),
        ("states-approach", spec.states_approach),
        ("guarded", spec.guarded),
        ("delta", spec.delta),
    ];
    for (name, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
        key(name, "true".to_string());
    }
    let needs: Vec<String> = spec.needs.iter().map(ToString::to_string).collect();
    for (name, names) in
        [("changes", &spec.changes), ("lists", &spec.lists), ("judges", &spec.judges), ("needs", &needs)]
    {
        if !names.is_empty() {
            key(name, list(names));
        }
    }
    key("result", spec.result.clone());
    key("time", spec.time.to_string());
    let writable: Vec<String> =
        spec.may_write.iter().map(|writable: &Writable| writable.name().to_string()).collect();
    key("may-write", list(&writable));
    for (name, is_set) in
        [("shell", spec.shell), ("tree", spec.tree), ("network", spec.network), ("remembers", spec.remembers)]
    {
        key(name, is_set.to_string());
    }
    if let Some(model) = &spec.model {
        key("model", quoted(model));
    }
    text
}

/// A string quoted for YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
