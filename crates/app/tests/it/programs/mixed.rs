//! A feature by several programs: one implements, and each reviewer is a different program.

use super::desk::Desk;
use crate::three_tasks::{self, REHEARSAL};

const AGENTS: &str = r#"
agent = "codex"
model = "stand-in"

[roles."reviewer:security"]
agent = "claude"
model = "claude-sonnet-4-5"

[roles."reviewer:architecture"]
agent = "opencode"
model = "standin/stand-in"

[roles."reviewer:correctness"]
agent = "gemini"
model = "gemini-2.5-flash"
"#;

// EP-08, EP-26
#[test]
fn codex_implements_and_three_others_review() {
    let Some(desk) = Desk::at(three_tasks::place(), REHEARSAL) else { return };
    desk.write_in_home(".config/remand/config.toml", AGENTS);
    let shown = desk.run(&["--workflow", "feature"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let rows = desk.dispatches();
    let by = |role: &str, item: Option<&str>| -> Vec<&str> {
        let own = rows.iter().filter(|row| row.role == role && row.item.as_deref() == item);
        let mut drivers: Vec<&str> = own.filter_map(|row| row.driver.as_deref()).collect();
        drivers.dedup();
        drivers
    };
    assert_eq!(by("implementer", None), ["codex"], "{rows:?}");
    for role in ["reviewer", "reviewer/design"] {
        assert_eq!(by(role, Some("security")), ["claude"], "{rows:?}");
        assert_eq!(by(role, Some("architecture")), ["opencode"], "{rows:?}");
        assert_eq!(by(role, Some("correctness")), ["gemini"], "{rows:?}");
    }
    assert!(rows.iter().all(|row| row.spent.is_some()), "{rows:?}");
}
