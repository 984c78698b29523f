//! Plants a failure for a check, to see whether the check can fail.

use super::spec::{CheckSpec, Parser};
use super::tree_files;
use remand_source::Language;
use std::io;
use std::path::{Path, PathBuf};

/// Text to append to a file; a missing file is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plant {
    /// Relative to the root of the tree.
    pub file: String,
    pub text: String,
}

/// A planted failure; `pull` restores the file.
#[derive(Debug)]
pub struct PlantedFailure {
    path: PathBuf,
    before: Option<Vec<u8>>,
}

/// Code that only a linter rejects. It contains its lint rule, so the rules of the project do not matter.
const LINT_ERROR: &str = "/* eslint no-debugger: \"error\" */\ndebugger;\n";

const RUST_TEST: &str = "\n#[cfg(test)]\nmod remand_planted {\n    #[test]\n    fn fails() {\n        panic!(\"planted\");\n    }\n}\n";
const PYTHON_TEST: &str = "import unittest\n\n\nclass RemandPlanted(unittest.TestCase):\n    def test_planted(self):\n        \
                           self.fail('planted')\n";
const RUST_EXAMPLE: &str = "\n/// ```\n/// panic!(\"planted\");\n/// ```\npub fn remand_planted() {}\n";
/// `import()` works both in CommonJS and in ES modules.
const NODE_TEST: &str =
    "import('node:test').then(({ test }) => test('planted', () => {\n  throw new Error('planted');\n}));\n";
const SCRIPT_TEST: &str = "test('planted', () => {\n  throw new Error('planted');\n});\n";
const GO_TEST: &str =
    "\n\nimport \"testing\"\n\nfunc TestRemandPlanted(t *testing.T) {\n\tt.Fatal(\"planted\")\n}\n";

const C_EXTENSIONS: [&str; 4] = [".c", ".cpp", ".cc", ".cxx"];

/// A change that makes a check fail in a tree; `None` if none is known. A check that reports tests gets a failing test.
pub fn plant(spec: &CheckSpec, tree: &Path) -> Option<Plant> {
    let command = match spec.action.typed() {
        Some(command) => command,
        None => return Some(Plant { file: "remand_planted.json".to_string(), text: "{\n".to_string() }),
    };
    let folder = tree.join(&spec.folder);
    let files = tree_files::all(&folder);
    let site = PlantSite { folder: &folder, files: &files };
    let (file, text) = match spec.parser {
        Parser::Cargo if command.split_whitespace().any(|word| word == "--doc") => {
            (crate_root(&files)?, RUST_EXAMPLE.to_string())
        }
        Parser::Cargo | Parser::Nextest => (crate_root(&files)?, RUST_TEST.to_string()),
        Parser::Pytest | Parser::Unittest => {
            (format!("{}test_remand_planted.py", test_folder(&files)), PYTHON_TEST.to_string())
        }
        Parser::Node => (site.script_path(), NODE_TEST.to_string()),
        Parser::Jest => (site.script_path(), SCRIPT_TEST.to_string()),
        Parser::Go => site.go_file("_test.go", GO_TEST)?,
        Parser::Tap | Parser::Junit | Parser::None => site.by_command(spec, &command)?,
    };
    let file = if spec.folder.is_empty() { file } else { format!("{}/{file}", spec.folder) };
    Some(Plant { file, text })
}

/// The files among which a failure is planted.
struct PlantSite<'s> {
    folder: &'s Path,
    files: &'s [String],
}

impl PlantSite<'_> {
    /// Chooses the file and the text by the tool and the words of the command.
    fn by_command(&self, spec: &CheckSpec, command: &str) -> Option<(String, String)> {
        let has = |word: &str| command.contains(word);
        let name = spec.name.split(':').next().unwrap_or_default();
        let found = if spec.tool == "make" {
            self.make_failure(name == "make", command.split_whitespace().next_back()?)?
        } else if has("cargo") {
            let text = if has("test") { RUST_TEST } else { "\nfn remand_planted( {\n" };
            (crate_root(self.files)?, text.to_string())
        } else if has("pytest") || has("unittest") {
            (format!("{}test_remand_planted.py", test_folder(self.files)), PYTHON_TEST.to_string())
        } else if ["compileall", "mypy", "pyright", "ruff", "pyflakes"].iter().any(|tool| has(tool)) {
            ("remand_planted.py".to_string(), "def (:\n".to_string())
        } else if has("eslint") {
            ("remand_planted.js".to_string(), LINT_ERROR.to_string())
        } else if has("node") && has("--check") {
            ("remand_planted.js".to_string(), "const = ;\n".to_string())
        } else if has("tsc") {
            (first_with(self.files, &[".ts", ".tsx"])?, "\nconst = ;\n".to_string())
        } else if has("vitest") || has("jest") || spec.tool == "npm" || spec.tool == "node" {
            (self.script_path(), SCRIPT_TEST.to_string())
        } else if spec.tool == "go" {
            if has("test") {
                self.go_file("_test.go", GO_TEST)?
            } else {
                self.go_file(".go", "\n\nfunc {\n")?
            }
        } else if has("ctest") {
            let text = "\nenable_testing()\nadd_test(NAME remand_planted COMMAND false)\n".to_string();
            ("CMakeLists.txt".to_string(), text)
        } else if has("cmake") && !has("--build") {
            ("CMakeLists.txt".to_string(), "\nmessage(FATAL_ERROR planted)\n".to_string())
        } else if has("cmake") {
            (first_with(self.files, &C_EXTENSIONS)?, "\n#error planted\n".to_string())
        } else if has("mvn") && spec.parser == Parser::Junit {
            ("src/test/java/RemandPlantedTest.java".to_string(), self.java_test())
        } else if has("mvn") {
            ("src/main/java/RemandPlanted.java".to_string(), "class RemandPlanted {\n".to_string())
        } else {
            return None;
        };
        Some(found)
    }

    /// Code that does not compile or, if nothing is compiled, a failing prerequisite of the target.
    fn make_failure(&self, is_build: bool, target: &str) -> Option<(String, String)> {
        let makefile = ["GNUmakefile", "makefile", "Makefile"]
            .into_iter()
            .find(|name| self.folder.join(name).is_file())?;
        let source = first_with(self.files, &C_EXTENSIONS).filter(|_| is_build);
        Some(match source {
            Some(source) => (source, "\n#error planted\n".to_string()),
            None => (makefile.to_string(), format!("\n{target}: remand_planted\nremand_planted:\n\tfalse\n")),
        })
    }

    /// The path of a JavaScript or TypeScript test that the runner finds: next to the first test, with the same suffix.
    fn script_path(&self) -> String {
        let first = self.files.iter().find_map(|file| {
            let (folder, name) =
                file.rsplit_once('/').map_or(("", file.as_str()), |(folder, name)| (folder, name));
            let infix = [".test.", ".spec."].iter().find_map(|infix| name.find(infix));
            let is_in_test_folder =
                folder.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__"));
            let extension = name.rfind('.').filter(|_| is_in_test_folder);
            let suffix = &name[infix.or(extension)?..];
            let is_script = Language::of(Path::new(name)).is_some_and(|language| {
                matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
            });
            let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            is_script.then(|| format!("{folder}remand_planted{suffix}"))
        });
        first.unwrap_or_else(|| "remand_planted.test.js".to_string())
    }

    /// A test for the version of JUnit that the other tests use.
    fn java_test(&self) -> String {
        let uses_jupiter = |file: &String| {
            std::fs::read_to_string(self.folder.join(file))
                .is_ok_and(|text| text.contains("org.junit.jupiter"))
        };
        let tests = self.files.iter().filter(|file| file.starts_with("src/test/java/"));
        let package = if tests.into_iter().any(uses_jupiter) { "org.junit.jupiter.api" } else { "org.junit" };
        format!(
            "import {package}.Test;\n\npublic class RemandPlantedTest {{\n    @Test\n    public void planted() {{\n        \
             throw new AssertionError(\"planted\");\n    }}\n}}\n"
        )
    }

    /// A new file in the package of the first Go file.
    fn go_file(&self, suffix: &str, text: &str) -> Option<(String, String)> {
        let file = first_with(self.files, &[".go"])?;
        let package = package(&self.folder.join(&file))?;
        let folder = file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        Some((format!("{folder}remand_planted{suffix}"), format!("package {package}{text}")))
    }
}

impl Plant {
    /// Plants the failure in a tree.
    pub fn put(&self, tree: &Path) -> io::Result<PlantedFailure> {
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
        Ok(PlantedFailure { path, before })
    }
}

impl PlantedFailure {
    /// Restores the file.
    pub fn pull(self) -> io::Result<()> {
        match self.before {
            Some(before) => std::fs::write(&self.path, before),
            None => std::fs::remove_file(&self.path),
        }
    }
}

fn crate_root(files: &[String]) -> Option<String> {
    let is_root = |file: &&String| {
        [("src/lib.rs"), ("src/main.rs")]
            .iter()
            .any(|root| *file == root || file.ends_with(&format!("/{root}")))
    };
    files.iter().filter(is_root).min_by_key(|file| file.matches('/').count()).cloned()
}

/// The folder of the first test file, with a slash at the end; empty for the root.
fn test_folder(files: &[String]) -> String {
    let is_test = |file: &&String| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.ends_with(".py") && (name.starts_with("test") || name.ends_with("_test.py"))
    };
    let found = files.iter().find(is_test).and_then(|file| file.rsplit_once('/'));
    found.map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

fn first_with(files: &[String], extensions: &[&str]) -> Option<String> {
    let is_source = |file: &&String| {
        extensions.iter().any(|extension| file.ends_with(extension)) && !file.ends_with(".d.ts")
    };
    files.iter().filter(is_source).min_by_key(|file| file.matches('/').count()).cloned()
}

fn package(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("package "))?;
    Some(line.trim().trim_end_matches("_test").to_string())
}
