//! A failure for every check: what to put into a tree so that a check that can fail does (CORE-13).

use super::spec::{Action, CheckSpec};
use super::tree_files;
use std::io;
use std::path::{Path, PathBuf};

/// Text that is put behind what a file holds; a file that is not there is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plant {
    /// Relative to the root of the tree.
    pub file: String,
    pub text: String,
}

/// A plant in a tree; what was there before comes back by `pull`.
#[derive(Debug)]
pub struct Planted {
    path: PathBuf,
    before: Option<Vec<u8>>,
}

const RUST_TEST: &str = "\n#[cfg(test)]\nmod remand_planted {\n    #[test]\n    fn fails() {\n        panic!(\"planted\");\n    }\n}\n";
const PYTHON_TEST: &str = "import unittest\n\n\nclass RemandPlanted(unittest.TestCase):\n    def test_planted(self):\n        \
                           self.fail('planted')\n";
const NODE_TEST: &str = "require('node:test').test('planted', () => {\n  throw new Error('planted');\n});\n";
const SCRIPT_TEST: &str = "test('planted', () => {\n  throw new Error('planted');\n});\n";
const GO_TEST: &str =
    "\n\nimport \"testing\"\n\nfunc TestRemandPlanted(t *testing.T) {\n\tt.Fatal(\"planted\")\n}\n";

/// What makes a check fail in a tree; none where that is not known.
pub fn plant(spec: &CheckSpec, tree: &Path) -> Option<Plant> {
    let command = match spec.action.typed() {
        Some(command) => command,
        None => return Some(Plant { file: "remand_planted.json".to_string(), text: "{\n".to_string() }),
    };
    let folder = tree.join(&spec.folder);
    let files = tree_files::all(&folder);
    let inside = |file: String| if spec.folder.is_empty() { file } else { format!("{}/{file}", spec.folder) };
    let says = |word: &str| command.contains(word);
    let found = if says("cargo") {
        let text = if says("test") || says("nextest") { RUST_TEST } else { "\nfn remand_planted( {\n" };
        Some((crate_root(&files)?, text.to_string()))
    } else if says("pytest") || says("unittest") {
        Some((format!("{}test_remand_planted.py", test_folder(&files)), PYTHON_TEST.to_string()))
    } else if says("compileall") || says("mypy") || says("ruff") || says("pyflakes") {
        Some(("remand_planted.py".to_string(), "def (:\n".to_string()))
    } else if says("node") && says("--test") {
        Some(("remand_planted.test.cjs".to_string(), NODE_TEST.to_string()))
    } else if says("vitest") || says("jest") {
        Some(("remand_planted.test.js".to_string(), SCRIPT_TEST.to_string()))
    } else if says("node") && says("--check") {
        Some(("remand_planted.js".to_string(), "const = ;\n".to_string()))
    } else if says("tsc") {
        Some((first(&files, &[".ts", ".tsx"])?, "\nconst = ;\n".to_string()))
    } else if spec.tool == "go" {
        let file = first(&files, &[".go"])?;
        let package = package(&folder.join(&file))?;
        let below = Path::new(&file).parent().map(|parent| parent.display().to_string()).unwrap_or_default();
        let below = if below.is_empty() { below } else { format!("{below}/") };
        if says("test") {
            Some((format!("{below}remand_planted_test.go"), format!("package {package}{GO_TEST}")))
        } else {
            Some((format!("{below}remand_planted.go"), format!("package {package}\n\nfunc {{\n")))
        }
    } else if says("ctest") {
        let text = "\nenable_testing()\nadd_test(NAME remand_planted COMMAND false)\n".to_string();
        Some(("CMakeLists.txt".to_string(), text))
    } else if says("cmake") {
        Some((first(&files, &[".c", ".cpp", ".cc", ".cxx"])?, "\n#error planted\n".to_string()))
    } else if says("mvn") {
        let place = if says("test") || says("verify") { "src/test/java" } else { "src/main/java" };
        Some((format!("{place}/RemandPlanted.java"), "class RemandPlanted {\n".to_string()))
    } else {
        None
    };
    found.map(|(file, text)| Plant { file: inside(file), text })
}

impl Plant {
    /// Puts it into a tree.
    pub fn put(&self, tree: &Path) -> io::Result<Planted> {
        let path = tree.join(&self.file);
        let before = match std::fs::read(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut text = before.clone().unwrap_or_default();
        text.extend_from_slice(self.text.as_bytes());
        std::fs::write(&path, text)?;
        Ok(Planted { path, before })
    }
}

impl Planted {
    /// Takes it out again.
    pub fn pull(self) -> io::Result<()> {
        match self.before {
            Some(before) => std::fs::write(&self.path, before),
            None => std::fs::remove_file(&self.path),
        }
    }
}

/// Whether a check goes by single files, so that it has to be told which one changed.
pub fn goes_by_file(spec: &CheckSpec) -> bool {
    matches!(spec.action, Action::BuiltIn(_)) || !spec.each.is_empty()
}

fn crate_root(files: &[String]) -> Option<String> {
    let is_root = |file: &&String| {
        [("src/lib.rs"), ("src/main.rs")]
            .iter()
            .any(|root| *file == root || file.ends_with(&format!("/{root}")))
    };
    files.iter().filter(is_root).min_by_key(|file| file.matches('/').count()).cloned()
}

/// The folder of the first test file, with a slash behind it; empty for the root.
fn test_folder(files: &[String]) -> String {
    let is_test = |file: &&String| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.ends_with(".py") && (name.starts_with("test") || name.ends_with("_test.py"))
    };
    let found = files.iter().find(is_test).and_then(|file| file.rsplit_once('/'));
    found.map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

fn first(files: &[String], endings: &[&str]) -> Option<String> {
    let fits =
        |file: &&String| endings.iter().any(|ending| file.ends_with(ending)) && !file.ends_with(".d.ts");
    files.iter().filter(fits).min_by_key(|file| file.matches('/').count()).cloned()
}

fn package(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("package "))?;
    Some(line.trim().trim_end_matches("_test").to_string())
}
