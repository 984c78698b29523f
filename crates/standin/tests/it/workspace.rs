//! A dispatch as the engine lays it out: a tree, a folder, and a prompt that names the result file.

use remand_agents::rehearsal::{DispatchInfo, Script};
use remand_standin::Standin;
use std::fs;
use std::path::PathBuf;

pub struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    /// A dispatch of the role `maker`.
    pub fn new() -> Workspace {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace { folder };
        for path in [workspace.tree(), workspace.out()] {
            fs::create_dir_all(path).unwrap();
        }
        let info = DispatchInfo {
            run: "run-1".to_owned(),
            phase: "build".to_owned(),
            role: "maker".to_owned(),
            task: None,
            item: None,
            instance: None,
            round: 1,
            attempt: 1,
            result: workspace.result(),
            tree: workspace.tree(),
            folder: workspace.dispatch(),
        };
        fs::write(workspace.dispatch().join("dispatch.json"), serde_json::to_vec(&info).unwrap()).unwrap();
        workspace
    }

    pub fn root(&self) -> PathBuf {
        // Programs resolve links, and macOS has one above every temporary folder.
        self.folder.path().canonicalize().unwrap()
    }

    pub fn tree(&self) -> PathBuf {
        self.root().join("tree")
    }

    pub fn dispatch(&self) -> PathBuf {
        self.root().join("dispatches/p1.v1.s1.a1")
    }

    pub fn out(&self) -> PathBuf {
        self.dispatch().join("out")
    }

    pub fn result(&self) -> PathBuf {
        self.out().join("result.yaml")
    }

    pub fn prompt(&self) -> String {
        format!("Do your work.\n\nWrite one YAML or JSON document to `{}`.", self.result().display())
    }
}

/// A stand-in with a script of one entry, for the role `maker`, with these keys.
pub fn standin(entry: &str) -> Standin {
    let text = format!("rehearsal: 1\ndispatches:\n- role: maker\n{entry}");
    Standin::start(Script::parse(&text, "test").unwrap()).unwrap()
}
