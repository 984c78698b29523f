//! What of a script a model can play at all.

use remand_runtime::rehearsal::{Action, Script};

/// One action that no model can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {entry} (role `{role}`), action {action}: {reason}")]
pub struct Refusal {
    /// From 1.
    pub entry: usize,
    pub role: String,
    /// From 1.
    pub action: usize,
    pub reason: &'static str,
}

/// All that a model cannot do of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a model cannot play this rehearsal:\n{}", lines(.0))]
pub struct Refused(pub Vec<Refusal>);

fn lines(refusals: &[Refusal]) -> String {
    refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n")
}

/// Refuses what a model cannot do, all of it at once.
pub fn admit(script: &Script) -> Result<(), Refused> {
    let refusals: Vec<Refusal> = (script.dispatches.iter().enumerate())
        .flat_map(|(entry, dispatch)| {
            dispatch.actions.iter().enumerate().filter_map(move |(action, what)| {
                let (role, reason) = (dispatch.role.clone(), reason(what)?);
                Some(Refusal { entry: entry + 1, role, action: action + 1, reason })
            })
        })
        .collect();
    if refusals.is_empty() { Ok(()) } else { Err(Refused(refusals)) }
}

fn reason(action: &Action) -> Option<&'static str> {
    match action {
        Action::Exit(_) => Some("`exit` is of a process; the agent's program chooses its own exit code"),
        Action::Crash(_) => Some("`crash` is of a process; a model cannot end the agent's program"),
        Action::Error(_) => Some("`error` is of a process; a model has no standard error, use `print`"),
        Action::Write(_)
        | Action::Append(_)
        | Action::Patch(_)
        | Action::Delete(_)
        | Action::Mkdir(_)
        | Action::Symlink(_)
        | Action::Chmod(_)
        | Action::Run(_)
        | Action::Print(_)
        | Action::Result(_)
        | Action::ResultText(_)
        | Action::ResultBase64(_)
        | Action::Answer(_)
        | Action::Sleep(_)
        | Action::Hang(_)
        | Action::Spawn(_)
        | Action::Connect(_)
        | Action::Read(_)
        | Action::Service(_)
        | Action::Silent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_cannot_do_is_refused_with_its_place() {
        let text = "rehearsal: 1\ndispatches:\n- {role: a, do: [print: x]}\n\
                    - {role: b, do: [error: x, exit: 3]}\n- {role: c, do: [crash: true]}\n";
        let script = Script::parse(text, "r.yaml").unwrap();
        let refused = admit(&script).unwrap_err();
        let places: Vec<_> = refused.0.iter().map(|one| (one.entry, one.action)).collect();
        assert_eq!(places, [(2, 1), (2, 2), (3, 1)]);
        let line = refused.to_string().lines().nth(2).map(str::to_owned);
        assert_eq!(
            line.as_deref().map(|line| line.starts_with("entry 2 (role `b`), action 2: `exit`")),
            Some(true)
        );
    }
}
