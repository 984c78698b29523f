//! The walls of the sandbox: what each keeps from a program, and how far this machine builds it.
//!
//! This table is the only one: the report of a dispatch, `remand doctor`, `SECURITY.md` and the page about the sandbox use it.

use super::policy::Policy;
use serde::{Deserialize, Serialize};

/// What a machine offers to build walls with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// Whether the program is in namespaces.
    pub namespaces: bool,
    /// The version of Landlock; zero without it.
    pub landlock: u32,
    /// Whether system calls are filtered.
    pub filter: bool,
    /// Whether the kernel limits the processes of the program, and not of all programs together.
    pub own_process_limit: bool,
}

impl Ground {
    pub const COMPLETE: Ground =
        Ground { namespaces: true, landlock: u32::MAX, filter: true, own_process_limit: true };
    pub const WITHOUT_NAMESPACES: Ground =
        Ground { namespaces: false, own_process_limit: false, ..Ground::COMPLETE };
    pub const WITHOUT_LANDLOCK: Ground = Ground { landlock: 0, ..Ground::COMPLETE };
    pub const BARE: Ground =
        Ground { namespaces: false, landlock: 0, filter: false, own_process_limit: false };
}

/// How far a wall holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WallLevel {
    Held,
    Weaker,
    Absent,
}

/// What a wall keeps from a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    Content,
    Metadata,
    Hidden,
    Programs,
    Visibility,
    Signals,
    Priorities,
    Lifetime,
    ProcessNumber,
    Network,
    Hosts,
    Sockets,
    Memory,
    Kernel,
}

impl Wall {
    pub const ALL: [Wall; 14] = [
        Wall::Content,
        Wall::Metadata,
        Wall::Hidden,
        Wall::Programs,
        Wall::Visibility,
        Wall::Signals,
        Wall::Priorities,
        Wall::Lifetime,
        Wall::ProcessNumber,
        Wall::Network,
        Wall::Hosts,
        Wall::Sockets,
        Wall::Memory,
        Wall::Kernel,
    ];

    /// What the wall makes impossible.
    pub fn title(self) -> &'static str {
        match self {
            Wall::Content => "writing outside the allowed folders",
            Wall::Metadata => "changing modes, times, owners and attributes outside the allowed folders",
            Wall::Hidden => "reading hidden files",
            Wall::Programs => "starting other programs in a role without a shell",
            Wall::Visibility => "seeing other processes",
            Wall::Signals => "signals to other processes and tracing them",
            Wall::Priorities => "changing limits and priorities of other processes",
            Wall::Lifetime => "outliving the dispatch",
            Wall::ProcessNumber => "starting more processes than allowed",
            Wall::Network => "using the network without permission",
            Wall::Hosts => "reaching other hosts than those of its service",
            Wall::Sockets => "Unix sockets of other programs",
            Wall::Memory => "shared memory, semaphores and queues of other programs",
            Wall::Kernel => "mounts, namespaces, keys, devices and other interfaces of the kernel",
        }
    }

    /// How far the wall holds there, and what is missing.
    fn on(self, ground: Ground) -> (WallLevel, &'static str) {
        use WallLevel::{Absent, Held, Weaker};
        let Ground { namespaces, landlock, filter, own_process_limit } = ground;
        match self {
            Wall::Content if namespaces || landlock >= 3 => (Held, ""),
            Wall::Content if landlock > 0 => (Weaker, "files can be truncated"),
            Wall::Content => (Absent, "only the guard detects changes"),
            Wall::Metadata if namespaces => (Held, ""),
            Wall::Metadata if filter => (
                Weaker,
                "modes, times and owners of your files can be changed, but not attributes or set-user-id bits",
            ),
            Wall::Metadata => (Absent, "everything about your files can be changed"),
            Wall::Hidden if namespaces || landlock > 0 => (Held, ""),
            Wall::Hidden => (Absent, "all your files can be read"),
            Wall::Programs if landlock > 0 => (Held, ""),
            Wall::Programs => (Absent, "every program can be started"),
            Wall::Visibility if namespaces => (Held, ""),
            Wall::Visibility if landlock > 0 => (Weaker, "names and command lines of processes can be read"),
            Wall::Visibility => (Absent, "the environment of your other processes can be read, too"),
            Wall::Signals if namespaces || landlock >= 6 => (Held, ""),
            Wall::Signals if filter || landlock > 0 => {
                (Weaker, "your other processes can be signalled, but not traced")
            }
            Wall::Signals => (Absent, "your other processes can be signalled and traced"),
            Wall::Priorities if namespaces || filter => (Held, ""),
            Wall::Priorities => (Absent, "your other processes can be slowed down and ended"),
            Wall::Lifetime if namespaces => (Held, ""),
            Wall::Lifetime => (Weaker, "processes are searched for and killed one by one"),
            Wall::ProcessNumber if own_process_limit => (Held, ""),
            Wall::ProcessNumber => (
                Weaker,
                "processes are counted ten times a second; the kernel's limit is shared, and none for root",
            ),
            Wall::Network if namespaces || filter && landlock >= 4 => (Held, ""),
            Wall::Network if filter || landlock >= 4 => (Weaker, "a part of the protocols is open"),
            Wall::Network => (Absent, "the network is open"),
            Wall::Hosts if namespaces => (Held, ""),
            Wall::Hosts if filter && landlock >= 4 => {
                (Weaker, "every host can be reached at the ports of the service, and by UDP")
            }
            Wall::Hosts => (Absent, "every host can be reached"),
            Wall::Sockets if filter => (Held, ""),
            Wall::Sockets if namespaces => (Weaker, "sockets that appear later can be reached"),
            Wall::Sockets => (Absent, "programs such as Docker can be reached"),
            Wall::Memory if namespaces || filter && landlock > 0 => (Held, ""),
            Wall::Memory if filter || landlock > 0 => (Weaker, "a part of the interfaces is open"),
            Wall::Memory => (Absent, "shared memory is open, and outlives the dispatch"),
            Wall::Kernel if filter => (Held, ""),
            Wall::Kernel if namespaces => (Weaker, "only missing capabilities keep a program from them"),
            Wall::Kernel => (Absent, "only missing capabilities keep a program from them"),
        }
    }

    /// Whether a policy needs the wall.
    fn is_needed(self, policy: &Policy) -> bool {
        match self {
            Wall::Hidden => !policy.hidden.is_empty() || !policy.read_only.is_empty(),
            Wall::Programs => policy.programs.is_some(),
            Wall::Network => !policy.network,
            Wall::Hosts => !policy.network && !policy.services.is_empty(),
            Wall::Sockets => !policy.sockets,
            Wall::Memory => !policy.shared_memory,
            Wall::ProcessNumber => policy.processes.is_some(),
            Wall::Content
            | Wall::Metadata
            | Wall::Visibility
            | Wall::Signals
            | Wall::Priorities
            | Wall::Lifetime
            | Wall::Kernel => true,
        }
    }

    /// How to get the wall.
    pub fn remedy(self) -> &'static str {
        const NAMESPACES: &str = "allow user namespaces: on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an \
                                  AppArmor profile, in a container `--security-opt seccomp=unconfined` or `--privileged`";
        const LANDLOCK: &str =
            "use Linux 6.12 or later with Landlock (`landlock` in `/sys/kernel/security/lsm`)";
        const FILTER: &str = "use a kernel with seccomp filters";
        match self {
            Wall::Hidden | Wall::Programs => LANDLOCK,
            Wall::Sockets | Wall::Kernel => FILTER,
            Wall::ProcessNumber => "allow user namespaces; as root, use Linux 6.14 or later",
            Wall::Content
            | Wall::Metadata
            | Wall::Visibility
            | Wall::Signals
            | Wall::Priorities
            | Wall::Lifetime
            | Wall::Network
            | Wall::Hosts
            | Wall::Memory => NAMESPACES,
        }
    }
}

/// How far one wall holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WallState {
    pub wall: Wall,
    pub level: WallLevel,
    /// What is missing; empty if the wall holds.
    pub why: String,
}

impl WallState {
    /// What is missing, as text for the evidence.
    pub fn gap(&self) -> Option<String> {
        let title = self.wall.title();
        match self.level {
            WallLevel::Held => None,
            WallLevel::Weaker => Some(format!("{title} (in part: {})", self.why)),
            WallLevel::Absent => Some(format!("{title} ({})", self.why)),
        }
    }
}

/// The walls that a policy needs.
pub(super) fn walls(ground: Ground, policy: &Policy) -> Vec<WallState> {
    let needed = Wall::ALL.into_iter().filter(|wall| wall.is_needed(policy));
    needed
        .map(|wall| {
            let (level, why) = wall.on(ground);
            WallState { wall, level, why: why.to_string() }
        })
        .collect()
}

/// The table of the documents, in Markdown.
pub fn table() -> String {
    let grounds = [Ground::COMPLETE, Ground::WITHOUT_NAMESPACES, Ground::WITHOUT_LANDLOCK, Ground::BARE];
    let cell = |wall: Wall, ground: Ground| match wall.on(ground) {
        (WallLevel::Held, _) => "held".to_string(),
        (WallLevel::Weaker, why) => format!("weaker: {why}"),
        (WallLevel::Absent, why) => format!("absent: {why}"),
    };
    let mut text = "| what a program is kept from | all | no namespaces | no Landlock | nothing |\n\
                    | --- | --- | --- | --- | --- |\n"
        .to_string();
    for wall in Wall::ALL {
        let cells: Vec<String> = grounds.iter().map(|ground| cell(wall, *ground)).collect();
        text.push_str(&format!("| {} | {} |\n", wall.title(), cells.join(" | ")));
    }
    text
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::path::Path;

    // BX-06
    #[test]
    fn the_documents_have_the_table_of_the_code() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for document in ["SECURITY.md", "docs/explanation/sandbox.md"] {
            let text = std::fs::read_to_string(root.join(document)).expect("a document");
            assert!(text.contains(&table()), "{document} is outdated; its table has to be:\n{}", table());
        }
    }

    // BX-06
    #[test]
    fn less_ground_never_strengthens_a_wall() {
        let grounds = [Ground::WITHOUT_NAMESPACES, Ground::WITHOUT_LANDLOCK];
        for wall in Wall::ALL {
            assert_eq!(wall.on(Ground::COMPLETE), (WallLevel::Held, ""), "{wall:?}");
            for ground in grounds {
                assert!(wall.on(ground).0 <= wall.on(Ground::BARE).0, "{wall:?}");
            }
            assert_ne!(wall.on(Ground::BARE).0, WallLevel::Held, "{wall:?}");
        }
    }
}
