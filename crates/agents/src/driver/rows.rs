//! The rows of all agents: the built-in ones and those of the configuration.

use super::row::{AgentRow, RowError};
use std::collections::BTreeMap;

/// The built-in rows, from `agents/`.
const ROWS: &[(&str, &str)] = &[
    ("claude", include_str!("../../../../agents/claude.toml")),
    ("codex", include_str!("../../../../agents/codex.toml")),
    ("opencode", include_str!("../../../../agents/opencode.toml")),
    ("gemini", include_str!("../../../../agents/gemini.toml")),
    ("qwen", include_str!("../../../../agents/qwen.toml")),
    ("claude-acp", include_str!("../../../../agents/claude-acp.toml")),
    ("codex-acp", include_str!("../../../../agents/codex-acp.toml")),
    ("opencode-acp", include_str!("../../../../agents/opencode-acp.toml")),
    ("gemini-acp", include_str!("../../../../agents/gemini-acp.toml")),
    ("qwen-acp", include_str!("../../../../agents/qwen-acp.toml")),
    ("aider", include_str!("../../../../agents/aider.toml")),
    ("goose", include_str!("../../../../agents/goose.toml")),
    ("copilot", include_str!("../../../../agents/copilot.toml")),
];

/// The key that names the built-in row on which a row of the configuration is based.
const LIKE: &str = "like";

/// All rows by name.
#[derive(Clone, Debug, Default)]
pub struct AgentRows {
    rows: BTreeMap<String, toml::Table>,
}

/// A row with its name.
#[derive(Clone, Debug)]
pub struct NamedRow {
    pub name: String,
    pub row: AgentRow,
}

impl AgentRows {
    /// The built-in rows, with `[agents]` of the configuration merged into them key by key.
    pub fn from_config(configured: &BTreeMap<String, toml::Table>) -> Result<AgentRows, RowError> {
        let mut rows = AgentRows::default();
        for (name, text) in ROWS {
            let table = toml::from_str(text).map_err(|error: toml::de::Error| RowError::Malformed {
                name: (*name).to_string(),
                why: error.message().to_string(),
            })?;
            rows.rows.insert((*name).to_string(), table);
        }
        let built_in = rows.rows.clone();
        for (name, table) in configured {
            let mut table = table.clone();
            let base = match table.remove(LIKE) {
                Some(toml::Value::String(base)) => Some(base),
                Some(_) => {
                    let why = format!("`{LIKE}` must be the name of an agent");
                    return Err(RowError::Malformed { name: name.clone(), why });
                }
                None => None,
            };
            let mut row = match &base {
                Some(base) => built_in.get(base).cloned().ok_or_else(|| rows.unknown(base))?,
                None => built_in.get(name).cloned().unwrap_or_default(),
            };
            merge(&mut row, table);
            rows.rows.insert(name.clone(), row);
        }
        Ok(rows)
    }

    /// The row with this name.
    pub fn get(&self, name: &str) -> Result<NamedRow, RowError> {
        let table = self.rows.get(name).ok_or_else(|| self.unknown(name))?;
        Ok(NamedRow { name: name.to_string(), row: AgentRow::read(name, table.clone())? })
    }

    /// The hosts of the built-in row with this title.
    pub(super) fn hosts_of(title: &str) -> Vec<String> {
        let built_in = AgentRows::from_config(&BTreeMap::new()).and_then(|rows| rows.all());
        let same = built_in.into_iter().flatten().find(|known| known.row.title == title);
        same.and_then(|known| known.row.hosts).unwrap_or_default()
    }

    /// All rows, sorted by name.
    pub fn all(&self) -> Result<Vec<NamedRow>, RowError> {
        self.rows.keys().map(|name| self.get(name)).collect()
    }

    fn unknown(&self, name: &str) -> RowError {
        let names: Vec<&str> = self.rows.keys().map(String::as_str).collect();
        RowError::Unknown { name: name.to_string(), known: names.join(", ") }
    }
}

/// Overrides values of a table: nested tables are merged, all other values are replaced.
fn merge(base: &mut toml::Table, overrides: toml::Table) {
    for (key, value) in overrides {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(base)), toml::Value::Table(overrides)) => merge(base, overrides),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::driver::AgentProtocol;

    fn configured(text: &str) -> BTreeMap<String, toml::Table> {
        toml::from_str(text).expect("tables")
    }

    #[test]
    fn every_built_in_row_is_valid() {
        let agents = AgentRows::from_config(&BTreeMap::new()).expect("rows");
        let rows = agents.all().expect("every row");
        assert_eq!(rows.len(), ROWS.len());
        for NamedRow { name, row } in rows {
            assert!(!row.install.is_empty() && !row.sign_in.is_empty() && !row.spends.is_empty(), "{name}");
        }
    }

    #[test]
    fn rows_name_the_versions_that_tests_use() {
        let pinned = include_str!("../../../../tools/agents.d/package.json");
        let pinned: serde_json::Value = serde_json::from_str(pinned).expect("JSON");
        let agents = AgentRows::from_config(&BTreeMap::new()).expect("rows");
        for NamedRow { name, row } in agents.all().expect("every row") {
            let Some(tried) = row.tried else { continue };
            let package = row.install.rsplit(' ').next().expect("a package");
            assert_eq!(pinned["dependencies"][package], tried.as_str(), "{name}");
        }
    }

    // CORE-15
    #[test]
    fn a_row_has_a_silence_limit_only_if_the_agent_reports_when_a_tool_starts() {
        let agents = AgentRows::from_config(&BTreeMap::new()).expect("rows");
        for NamedRow { name, row } in agents.all().expect("every row") {
            let reports_tools = row.speaks == AgentProtocol::Acp || !row.output_rules.tool_began.is_empty();
            assert_eq!(row.silence.is_some(), reports_tools, "{name}");
        }
    }

    #[test]
    fn a_row_is_changed_key_by_key_or_based_on_another() {
        let text = "
            [claude]
            model = 'small'
            environment = {EXTRA = ['1']}
            [second]
            like = 'claude'
            command = ['/opt/claude']
            [own]
            title = 'Own'
            command = ['own']
            arguments = ['--go']
            speaks = 'text'
        ";
        let agents = AgentRows::from_config(&configured(text)).expect("rows");
        let claude = agents.get("claude").expect("claude").row;
        assert_eq!(claude.model.as_deref(), Some("small"));
        assert!(claude.environment.contains_key("EXTRA") && claude.environment.len() > 1);
        let second = agents.get("second").expect("second").row;
        assert_eq!((second.command, second.title), (vec!["/opt/claude".to_string()], claude.title));
        assert_eq!(agents.get("own").expect("own").row.title, "Own");
    }

    #[test]
    fn an_invalid_row_is_reported_with_its_name_and_key() {
        let error = |text: &str, name: &str| {
            let row = AgentRows::from_config(&configured(text)).and_then(|rows| rows.get(name));
            row.expect_err("refused").to_string()
        };
        assert!(error("[claude]\nmodle = 'x'", "claude").contains("modle"));
        assert!(error("[x]\nlike = 'cluade'", "x").contains("claude"));
        assert!(error("", "nobody").contains("codex"));
        let wrong = error("[x]\ntitle='X'\ncommand=['x']\narguments=['${hoem}']", "x");
        assert!(wrong.contains("[agents.x]") && wrong.contains("arguments"), "{wrong}");
    }
}
