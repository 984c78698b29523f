//! Refuses scripts that a model cannot play.

use remand_agents::rehearsal::{Script, ScriptAction};

/// An action that no model can perform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {entry} (role `{role}`), action {action}: {reason}")]
pub struct UnplayableAction {
    /// 1-based.
    pub entry: usize,
    pub role: String,
    /// 1-based.
    pub action: usize,
    pub reason: &'static str,
}

/// All actions of a script that a model cannot perform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a model cannot play this rehearsal:\n{}", lines(.0))]
pub struct UnplayableScript(pub Vec<UnplayableAction>);

fn lines(refusals: &[UnplayableAction]) -> String {
    refusals.iter().map(UnplayableAction::to_string).collect::<Vec<_>>().join("\n")
}

/// Refuses a script with actions that a model cannot perform, and lists all of them.
pub fn admit(script: &Script) -> Result<(), UnplayableScript> {
    let refusals: Vec<UnplayableAction> = (script.dispatches.iter().enumerate())
        .flat_map(|(entry, dispatch)| {
            dispatch.actions.iter().enumerate().filter_map(move |(index, action)| {
                let (role, reason) = (dispatch.role.clone(), refusal_reason(action)?);
                Some(UnplayableAction { entry: entry + 1, role, action: index + 1, reason })
            })
        })
        .collect();
    if refusals.is_empty() { Ok(()) } else { Err(UnplayableScript(refusals)) }
}

fn refusal_reason(action: &ScriptAction) -> Option<&'static str> {
    match action {
        ScriptAction::Exit(_) => Some("`exit` is for processes; the agent's program chooses its exit status"),
        ScriptAction::Crash(_) => Some("`crash` is for processes; a model cannot end the agent's program"),
        ScriptAction::Error(_) => {
            Some("`error` is for processes; a model has no standard error, use `print`")
        }
        ScriptAction::Write(_)
        | ScriptAction::Append(_)
        | ScriptAction::Patch(_)
        | ScriptAction::Delete(_)
        | ScriptAction::Mkdir(_)
        | ScriptAction::Symlink(_)
        | ScriptAction::Chmod(_)
        | ScriptAction::Run(_)
        | ScriptAction::Print(_)
        | ScriptAction::Result(_)
        | ScriptAction::ResultText(_)
        | ScriptAction::ResultBase64(_)
        | ScriptAction::Answer(_)
        | ScriptAction::Sleep(_)
        | ScriptAction::Hang(_)
        | ScriptAction::Spawn(_)
        | ScriptAction::Connect(_)
        | ScriptAction::Read(_)
        | ScriptAction::Service(_)
        | ScriptAction::Silent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_that_a_model_cannot_perform_are_listed() {
        let text = "rehearsal: 1\ndispatches:\n- {role: a, do: [print: x]}\n\
                    - {role: b, do: [error: x, exit: 3]}\n- {role: c, do: [crash: true]}\n";
        let script = Script::parse(text, "r.yaml").unwrap();
        let refused = admit(&script).unwrap_err();
        let numbers: Vec<_> = refused.0.iter().map(|refusal| (refusal.entry, refusal.action)).collect();
        assert_eq!(numbers, [(2, 1), (2, 2), (3, 1)]);
        let line = refused.to_string().lines().nth(2).map(str::to_owned);
        assert_eq!(
            line.as_deref().map(|line| line.starts_with("entry 2 (role `b`), action 2: `exit`")),
            Some(true)
        );
    }
}
