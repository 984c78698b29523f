//! Finds the dispatch of a request by the result file that its prompt names.

use crate::conversation::Conversation;
use remand_agents::rehearsal::DispatchInfo;
use std::path::{Path, PathBuf};

/// The end of the path of a result file.
const RESULT_SUFFIX: &str = "/out/result.yaml";

/// A dispatch, and the progress of its conversation.
#[derive(Clone, Debug)]
pub struct DispatchProgress {
    /// The file that describes the dispatch.
    pub about: PathBuf,
    pub info: DispatchInfo,
    /// The number of tool calls of the model since the prompt of the dispatch.
    pub played: usize,
}

impl DispatchProgress {
    /// Finds the last dispatch that the history names.
    pub fn find(conversation: &Conversation) -> Option<DispatchProgress> {
        conversation.prompts().rev().find_map(|(index, text)| {
            let (about, info) = find_in(text)?;
            Some(DispatchProgress { about, info, played: conversation.calls_after(index) })
        })
    }

    /// The dispatch in one line.
    pub fn title(&self) -> String {
        let info = &self.info;
        let item = info.task.as_ref().or(info.item.as_ref());
        let item = item.map(|item| format!(" {item}")).unwrap_or_default();
        format!("{} in {}{item}, round {}, attempt {}", info.role, info.phase, info.round, info.attempt)
    }
}

/// Tries the result paths in a prompt, last first, until one has a readable dispatch file.
fn find_in(text: &str) -> Option<(PathBuf, DispatchInfo)> {
    text.rmatch_indices(RESULT_SUFFIX).find_map(|(end, _)| {
        let before = &text[..end];
        before
            .contains("/dispatches/")
            .then(|| path_starts(before).find_map(|start| read_dispatch(&before[start..])))?
    })
}

/// Positions at which a path at the end of `before` may start, nearest first. Paths may contain spaces.
fn path_starts(before: &str) -> impl Iterator<Item = usize> {
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    before.rmatch_indices('/').map(|(slash, _)| slash).take_while(move |slash| *slash >= line_start)
}

fn read_dispatch(folder: &str) -> Option<(PathBuf, DispatchInfo)> {
    if !Path::new(folder).parent()?.ends_with("dispatches") {
        return None;
    }
    let about = Path::new(folder).join("dispatch.json");
    DispatchInfo::read(&about).ok().map(|info| (about, info))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::HistoryItem;
    use serde_json::json;

    fn dispatch(folder: &Path, id: &str) -> String {
        let dispatch = folder.join("dispatches").join(id);
        std::fs::create_dir_all(&dispatch).unwrap();
        let info = json!({
            "run": "r", "phase": "build", "role": id, "round": 1, "attempt": 1,
            "result": dispatch.join("out/result.yaml"), "tree": folder, "folder": dispatch,
        });
        std::fs::write(dispatch.join("dispatch.json"), info.to_string()).unwrap();
        format!("{}/out/result.yaml", dispatch.display())
    }

    #[test]
    fn the_last_named_dispatch_is_found_and_earlier_calls_do_not_count() {
        let folder = tempfile::Builder::new().prefix("a folder with spaces ").tempdir().unwrap();
        let (one, two) = (dispatch(folder.path(), "p1.a1"), dispatch(folder.path(), "p1.a2"));
        let conversation = Conversation {
            history: vec![
                HistoryItem::Prompt(format!("write to `{one}`, please")),
                HistoryItem::Call,
                HistoryItem::Outcome,
                HistoryItem::Text,
                HistoryItem::Prompt(format!("not {one} but\n'{two}'.")),
                HistoryItem::Call,
                HistoryItem::Outcome,
                HistoryItem::Prompt("continue".to_owned()),
            ],
            ..Conversation::default()
        };
        let dispatch = DispatchProgress::find(&conversation).unwrap();
        assert_eq!((dispatch.info.role.as_str(), dispatch.played), ("p1.a2", 1));
        assert_eq!(dispatch.title(), "p1.a2 in build, round 1, attempt 1");
    }

    #[test]
    fn a_path_without_a_dispatch_file_is_ignored() {
        let prompt = "see /out/result.yaml or /dispatches/p1/out/result.yaml".to_owned();
        let conversation =
            Conversation { history: vec![HistoryItem::Prompt(prompt)], ..Conversation::default() };
        assert!(DispatchProgress::find(&conversation).is_none());
    }
}
