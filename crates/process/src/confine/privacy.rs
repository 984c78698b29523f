//! The parts of a user's home folder that agents may read: only toolchains and their caches.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Folders of toolchains inside a home folder.
const TOOLCHAIN_FOLDERS: &[&str] = &[
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

/// Files with credentials, which stay hidden even inside shown folders.
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

/// Environment variables that point to a toolchain's folder.
const TOOLCHAIN_VARIABLES: &[&str] =
    &["CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOMODCACHE", "NVM_DIR", "JAVA_HOME", "PYENV_ROOT"];

/// The hidden paths of a home folder, and the exceptions that are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privacy {
    pub hidden: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
}

impl Privacy {
    /// Hides a home folder, except for toolchains in their usual folders and in the folders that the environment names.
    pub fn of_home(home: &Path, environment: &BTreeMap<OsString, OsString>) -> Privacy {
        // A system user without a home folder has nothing to hide.
        if !home.is_absolute() || Path::new("/usr").starts_with(home) {
            return Privacy::default();
        }
        let mut hidden = vec![home.to_path_buf()];
        hidden.extend(CREDENTIALS.iter().map(|file| home.join(file)).filter(|file| file.exists()));
        let value = |name: &str| environment.get(OsStr::new(name)).map(PathBuf::from);
        let mut shown: Vec<PathBuf> = TOOLCHAIN_FOLDERS.iter().map(|folder| home.join(folder)).collect();
        shown.extend(TOOLCHAIN_VARIABLES.iter().filter_map(|name| value(name)));
        let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        shown.extend(std::env::split_paths(&path));
        // The home folder, or a folder that contains it, would expose everything.
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
    fn only_toolchains_in_a_home_folder_are_shown_without_their_credentials() {
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
