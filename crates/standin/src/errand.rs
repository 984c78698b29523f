//! Which dispatch a request belongs to, by the path of the result file that its prompt names.

use crate::conversation::Conversation;
use remand_runtime::rehearsal::DispatchInfo;
use std::path::{Path, PathBuf};

const RESULT: &str = "/out/result.yaml";

/// A dispatch, and how far a conversation about it is.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The file that describes the dispatch.
    pub about: PathBuf,
    pub info: DispatchInfo,
    /// How many tools the model has called since it was given the errand.
    pub played: usize,
}

impl Errand {
    /// Finds the dispatch that was named last.
    pub fn of(conversation: &Conversation) -> Option<Errand> {
        conversation.prompts().rev().find_map(|(at, text)| {
            let (about, info) = named(text)?;
            Some(Errand { about, info, played: conversation.calls_after(at) })
        })
    }

    /// A line that names the dispatch.
    pub fn title(&self) -> String {
        let info = &self.info;
        let item = info.task.as_ref().or(info.item.as_ref());
        let item = item.map(|item| format!(" {item}")).unwrap_or_default();
        format!("{} in {}{item}, round {}, attempt {}", info.role, info.phase, info.round, info.attempt)
    }
}

/// Finds the last path of a result file in a text whose dispatch can be read.
fn named(text: &str) -> Option<(PathBuf, DispatchInfo)> {
    text.rmatch_indices(RESULT).find_map(|(end, _)| {
        let before = &text[..end];
        before.contains("/dispatches/").then(|| starts(before).find_map(|start| read(&before[start..])))?
    })
}

/// Where a path that ends here may begin, the nearest first: paths may have spaces.
fn starts(before: &str) -> impl Iterator<Item = usize> {
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    before.rmatch_indices('/').map(|(at, _)| at).take_while(move |at| *at >= line)
}

fn read(folder: &str) -> Option<(PathBuf, DispatchInfo)> {
    if !Path::new(folder).parent()?.ends_with("dispatches") {
        return None;
    }
    let about = Path::new(folder).join("dispatch.json");
    DispatchInfo::read(&about).ok().map(|info| (about, info))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Passage;
    use serde_json::json;

    fn dispatch(folder: &Path, id: &str) -> String {
        let place = folder.join("dispatches").join(id);
        std::fs::create_dir_all(&place).unwrap();
        let info = json!({
            "run": "r", "phase": "build", "role": id, "round": 1, "attempt": 1,
            "result": place.join("out/result.yaml"), "tree": folder, "folder": place,
        });
        std::fs::write(place.join("dispatch.json"), info.to_string()).unwrap();
        format!("{}/out/result.yaml", place.display())
    }

    #[test]
    fn the_dispatch_that_was_named_last_counts_and_calls_before_it_do_not() {
        let folder = tempfile::Builder::new().prefix("a place with spaces ").tempdir().unwrap();
        let (one, two) = (dispatch(folder.path(), "p1.a1"), dispatch(folder.path(), "p1.a2"));
        let conversation = Conversation {
            passages: vec![
                Passage::Prompt(format!("write to `{one}`, please")),
                Passage::Call,
                Passage::Outcome,
                Passage::Text,
                Passage::Prompt(format!("not {one} but\n'{two}'.")),
                Passage::Call,
                Passage::Outcome,
                Passage::Prompt("go on".to_owned()),
            ],
            ..Conversation::default()
        };
        let errand = Errand::of(&conversation).unwrap();
        assert_eq!((errand.info.role.as_str(), errand.played), ("p1.a2", 1));
        assert_eq!(errand.title(), "p1.a2 in build, round 1, attempt 1");
    }

    #[test]
    fn what_only_looks_like_a_dispatch_is_none() {
        let prompt = "see /out/result.yaml or /dispatches/p1/out/result.yaml".to_owned();
        let conversation =
            Conversation { passages: vec![Passage::Prompt(prompt)], ..Conversation::default() };
        assert!(Errand::of(&conversation).is_none());
    }
}
