//! The sandbox of macOS, as a profile for `sandbox-exec`. Nobody has tried it yet, so the report does not count on it.
//!
//! Of several rules that match, the last one applies, so rules about inner paths follow those about outer ones.

use super::policy::Policy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The program that applies a profile.
#[cfg(target_os = "macos")]
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// The socket through which programs look up names.
const NAME_SERVICE: &str = "/private/var/run/mDNSResponder";

/// Devices that programs can write to without changing the machine.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"];

/// The profile of a policy.
pub(super) fn profile(policy: &Policy) -> String {
    let mut rules = vec!["(version 1)".to_string(), "(allow default)".to_string()];
    rules.extend(reading(policy));
    rules.push("(deny file-write*)".to_string());
    rules.extend(DEVICES.iter().map(|path| rule("allow file-write*", "literal", Path::new(path))));
    rules.extend(policy.read_write.iter().map(|path| rule("allow file-write*", "subpath", path)));
    rules.push("(deny file-write-setugid)".to_string());
    if let Some(programs) = &policy.programs {
        rules.push("(deny process-exec*)".to_string());
        rules.extend(programs.iter().map(|path| rule("allow process-exec*", "subpath", path)));
    }
    rules.extend(network(policy));
    for (what, is_allowed) in [("ipc-posix-shm*", policy.shared_memory), ("ipc-sysv*", policy.shared_memory)]
    {
        rules.extend((!is_allowed).then(|| format!("(deny {what})")));
    }
    for what in ["signal", "process-info*"] {
        rules.extend([format!("(deny {what})"), format!("(allow {what} (target same-sandbox))")]);
    }
    rules.extend(
        ["system-socket", "mach-priv*", "nvram*", "iokit-set-properties"]
            .map(|what| format!("(deny {what})")),
    );
    rules.join("\n") + "\n"
}

/// Rules about what may be read: outer paths first.
fn reading(policy: &Policy) -> Vec<String> {
    let mut paths: BTreeMap<&PathBuf, &str> = BTreeMap::new();
    paths.extend(policy.hidden.iter().map(|path| (path, "deny file-read*")));
    let shown = policy
        .shown
        .iter()
        .chain(&policy.read_only)
        .chain(&policy.read_write)
        .chain(policy.programs.iter().flatten());
    paths.extend(shown.map(|path| (path, "allow file-read*")));
    paths.into_iter().map(|(path, verb)| rule(verb, "subpath", path)).collect()
}

fn network(policy: &Policy) -> Vec<String> {
    if policy.network {
        return Vec::new();
    }
    let mut rules = vec!["(deny network*)".to_string()];
    if policy.sockets {
        rules.push("(allow network* (remote unix-socket))".to_string());
    }
    // A profile can name ports, but no hosts other than this machine.
    for service in &policy.services {
        let host = if service.is_loopback() { "localhost" } else { "*" };
        rules.push(format!("(allow network-outbound (remote tcp \"{host}:{}\"))", service.port));
    }
    if policy.services.iter().any(|service| !service.is_loopback()) {
        rules.push(rule("allow network-outbound", "literal", Path::new(NAME_SERVICE)));
    }
    for port in &policy.listens {
        rules.push(format!("(allow network-bind network-inbound (local tcp \"localhost:{port}\"))"));
        rules.push(format!("(allow network-outbound (remote tcp \"localhost:{port}\"))"));
    }
    rules
}

fn rule(verb: &str, filter: &str, path: &Path) -> String {
    format!("({verb} ({filter} {}))", quoted(path))
}

/// A path as a string of the profile.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::super::service::ServiceAddress;
    use super::*;

    // BX-06
    #[test]
    fn a_policy_becomes_a_profile() {
        let policy = Policy {
            read_write: vec!["/work/tree".into()],
            hidden: vec!["/Users/ada".into(), "/Users/ada/.cargo/credentials.toml".into()],
            shown: vec!["/Users/ada/.cargo".into()],
            programs: Some(vec!["/usr/bin/od\"d".into()]),
            services: ["api.example.org", "http://127.0.0.1:8099/v1"]
                .iter()
                .filter_map(|text| ServiceAddress::parse(text))
                .collect(),
            listens: vec![4096],
            ..Policy::default()
        };
        let expected = r#"(version 1)
(allow default)
(deny file-read* (subpath "/Users/ada"))
(allow file-read* (subpath "/Users/ada/.cargo"))
(deny file-read* (subpath "/Users/ada/.cargo/credentials.toml"))
(allow file-read* (subpath "/usr/bin/od\"d"))
(allow file-read* (subpath "/work/tree"))
(deny file-write*)
(allow file-write* (literal "/dev/null"))
(allow file-write* (literal "/dev/zero"))
(allow file-write* (literal "/dev/random"))
(allow file-write* (literal "/dev/urandom"))
(allow file-write* (literal "/dev/dtracehelper"))
(allow file-write* (subpath "/work/tree"))
(deny file-write-setugid)
(deny process-exec*)
(allow process-exec* (subpath "/usr/bin/od\"d"))
(deny network*)
(allow network-outbound (remote tcp "*:443"))
(allow network-outbound (remote tcp "localhost:8099"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow network-bind network-inbound (local tcp "localhost:4096"))
(allow network-outbound (remote tcp "localhost:4096"))
(deny ipc-posix-shm*)
(deny ipc-sysv*)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(deny system-socket)
(deny mach-priv*)
(deny nvram*)
(deny iokit-set-properties)
"#;
        assert_eq!(profile(&policy), expected);
    }

    // BX-06
    #[test]
    fn what_is_permitted_is_not_denied() {
        let free = Policy { network: true, shared_memory: true, ..Policy::default() };
        let text = profile(&free);
        assert!(
            !text.contains("network") && !text.contains("ipc-") && !text.contains("process-exec"),
            "{text}"
        );
        let sockets = Policy { sockets: true, ..Policy::default() };
        assert!(profile(&sockets).contains("(allow network* (remote unix-socket))"));
    }
}
