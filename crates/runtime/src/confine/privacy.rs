//! What agents see of a user's home: the toolchains and their caches, and nothing else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where toolchains live below a home.
const TOOLCHAINS: &[&str] = &[
    ".cargo",
    ".rustup",
    ".npm",
    ".nvm",
    ".volta",
    ".fnm",
    ".bun",
    ".deno",
    ".yarn",
    ".pnpm-store",
    ".pyenv",
    ".rye",
    ".conda",
    ".virtualenvs",
    "miniconda3",
    "anaconda3",
    ".cache",
    "go",
    "sdk",
    ".m2",
    ".gradle",
    ".sdkman",
    ".jenv",
    ".asdf",
    ".rbenv",
    ".gem",
    ".ghcup",
    ".nix-profile",
    ".dotnet",
    ".nuget",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/pipx",
    ".local/share/virtualenvs",
];

/// Files that hold credentials, among them and wherever else a home may be shown.
const CREDENTIALS: &[&str] = &[
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gem/credentials",
    ".nuget/NuGet/NuGet.Config",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".cache/pypoetry/auth.toml",
    ".cache/ksycoca",
    ".cache/keyring",
];

/// Variables that name the folder of a toolchain.
const VARIABLES: &[&str] =
    &["CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOMODCACHE", "NVM_DIR", "JAVA_HOME", "PYENV_ROOT"];

/// What is hidden of a home, and what is shown in it all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privacy {
    pub hidden: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
}

impl Privacy {
    /// Hides a home. A toolchain is shown where the environment or custom says that it lives.
    pub fn of_home(home: &Path, environment: &BTreeMap<OsString, OsString>) -> Privacy {
        // Who has no home of their own has nothing there to hide.
        if !home.is_absolute() || Path::new("/usr").starts_with(home) {
            return Privacy::default();
        }
        let mut hidden = vec![home.to_path_buf()];
        hidden.extend(CREDENTIALS.iter().map(|file| home.join(file)).filter(|file| file.exists()));
        let value = |name: &str| environment.get(OsStr::new(name)).map(PathBuf::from);
        let mut shown: Vec<PathBuf> = TOOLCHAINS.iter().map(|folder| home.join(folder)).collect();
        shown.extend(VARIABLES.iter().filter_map(|name| value(name)));
        let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        shown.extend(std::env::split_paths(&path));
        // A folder above the home would show all of it again.
        shown.retain(|folder| folder.starts_with(home) && folder != home && folder.exists());
        shown.sort();
        shown.dedup();
        Privacy { hidden, shown }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-05 EP-30
    #[test]
    fn of_a_home_only_toolchains_without_their_credentials_are_shown() {
        let temp = tempfile::tempdir().expect("temp");
        let home = temp.path();
        for folder in [".ssh", ".cargo/bin", "tools/bin", "own"] {
            std::fs::create_dir_all(home.join(folder)).expect("folder");
        }
        std::fs::write(home.join(".cargo/credentials.toml"), "token").expect("file");
        let path = format!("{}:/usr/bin:{}", home.join("tools/bin").display(), home.display());
        let environment = BTreeMap::from([("PATH".into(), path.into())]);
        let privacy = Privacy::of_home(home, &environment);
        assert_eq!(privacy.hidden, [home.to_path_buf(), home.join(".cargo/credentials.toml")]);
        assert_eq!(privacy.shown, [home.join(".cargo"), home.join("tools/bin")]);
        assert_eq!(Privacy::of_home(Path::new("/"), &environment), Privacy::default());
    }
}
