//! The services that an agent may reach: those of its row, and every address in its settings.

use super::Launch;
use super::row::AgentRow;
use super::rows::AgentRows;
use regex::Regex;
use remand_process::confine::{PROXY_VARIABLES, ServiceAddress};
use std::collections::BTreeSet;
use std::path::Path;

/// The maximum size of a settings file that is searched for addresses.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;

/// The end of the names of variables that hold a host with or without a port.
const HOST: &str = "_HOST";

/// The hosts of the row, and the addresses in the agent's variables, files and copied settings.
pub(super) fn of(row: &AgentRow, launch: &Launch) -> Vec<ServiceAddress> {
    let hosts = row.hosts.clone().unwrap_or_else(|| AgentRows::hosts_of(&row.title));
    let mut services: BTreeSet<ServiceAddress> =
        hosts.iter().filter_map(|host| ServiceAddress::parse(host)).collect();
    // The engine uses the user's proxies on the agent's behalf, so their addresses are not services.
    let variables = launch.environment.iter().filter(|(name, _)| !PROXY_VARIABLES.contains(&name.as_str()));
    for (name, value) in variables {
        let value = value.to_string_lossy();
        services.extend(addresses(&value));
        if name.ends_with(HOST) && !value.contains("://") {
            services
                .extend(ServiceAddress::parse(&value).map(|found| ServiceAddress { tls: false, ..found }));
        }
    }
    services.extend(launch.files.iter().flat_map(|(_, text)| addresses(text)));
    for (from, _) in launch.copies.iter().filter(|(_, to)| !is_cache(to)) {
        if from.metadata().is_ok_and(|found| found.len() <= MAX_SETTINGS_BYTES) {
            services.extend(addresses(&String::from_utf8_lossy(&std::fs::read(from).unwrap_or_default())));
        }
    }
    // A shipped row names the services of vendors. What the user named may be in the user's own network.
    let shipped = AgentRows::hosts_of(&row.title);
    let is_shipped = |service: &ServiceAddress| {
        shipped.iter().filter_map(|host| ServiceAddress::parse(host)).any(|host| host.host == service.host)
    };
    services.into_iter().map(|service| ServiceAddress { public: is_shipped(&service), ..service }).collect()
}

/// Whether a file was downloaded, so that its addresses are not the user's choice.
fn is_cache(path: &Path) -> bool {
    path.starts_with(".cache")
}

/// The addresses of all URLs in a text.
fn addresses(text: &str) -> Vec<ServiceAddress> {
    let Ok(url) = Regex::new(r#"https?://[^\s"'<>,]+"#) else { return Vec::new() };
    url.find_iter(text).filter_map(|found| ServiceAddress::from_url(found.as_str())).collect()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn row(more: &str) -> AgentRow {
        let text = format!("title = \"Mine\"\ncommand = [\"mine\"]\narguments = []\n{more}");
        AgentRow::read("mine", toml::from_str(&text).expect("a table")).expect("a row")
    }

    fn shown(row: &AgentRow, launch: &Launch) -> Vec<String> {
        of(row, launch).iter().map(ServiceAddress::to_string).collect()
    }

    // BX-02
    #[test]
    fn the_services_are_the_hosts_of_the_row_and_the_addresses_in_the_settings() {
        let temp = tempfile::tempdir().expect("temp");
        let copied = |name: &str, host: &str| {
            let file = temp.path().join(host);
            std::fs::write(&file, format!("base_url = \"https://{host}/v1\"\n")).expect("a file");
            (file, PathBuf::from(name))
        };
        let launch = Launch {
            environment: [
                ("BASE_URL".to_string(), "http://127.0.0.1:8099/v1".into()),
                ("OLLAMA_HOST".to_string(), "models.lan:11434".into()),
                ("HTTPS_PROXY".to_string(), "http://proxy.corp:3128".into()),
            ]
            .into(),
            files: vec![("settings.json".into(), "{\"url\":\"https://other.example:8443\"}".to_string())],
            copies: vec![copied(".mine/config.toml", "copied.example"), copied(".cache/x", "cached.example")],
            ..Launch::default()
        };
        let expected = [
            "127.0.0.1:8099",
            "api.example.org:443",
            "copied.example:443",
            "models.lan:11434",
            "other.example:8443",
        ];
        assert_eq!(shown(&row("hosts = [\"api.example.org\"]\n"), &launch), expected);
    }

    // CORE-10
    #[test]
    fn a_row_that_an_earlier_version_pinned_has_the_hosts_of_the_known_row() {
        let mut pinned = serde_json::to_value(row("")).expect("JSON");
        pinned["title"] = "Claude Code".into();
        pinned["ports"] = serde_json::json!([8080]);
        let pinned: AgentRow = serde_json::from_value(pinned).expect("a row");
        assert!(shown(&pinned, &Launch::default()).contains(&"api.anthropic.com:443".to_string()));
        assert_eq!(shown(&row(""), &Launch::default()), Vec::<String>::new());
    }
}
