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
    "miniforge3",
    "mambaforge",
    "micromamba",
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
        let programs: Vec<PathBuf> = std::env::split_paths(&path).collect();
        // An environment of Python or Conda needs more than its programs.
        let is_environment =
            |folder: &&Path| ["pyvenv.cfg", "conda-meta"].iter().any(|mark| folder.join(mark).exists());
        let environments = programs.iter().filter_map(|folder| folder.parent()).filter(is_environment);
        shown.extend(environments.map(Path::to_path_buf));
        shown.extend(programs);
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
        for folder in [".ssh", ".cargo/bin", "tools/bin", "own", "envs/one/bin"] {
            std::fs::create_dir_all(home.join(folder)).expect("folder");
        }
        std::fs::write(home.join("envs/one/pyvenv.cfg"), "").expect("file");
        std::fs::write(home.join(".cargo/credentials.toml"), "token").expect("file");
        let folders =
            [home.join("tools/bin"), "/usr/bin".into(), home.join("envs/one/bin"), home.to_path_buf()];
        let path = std::env::join_paths(folders).expect("a path").into_string().expect("text");
        let environment = BTreeMap::from([("PATH".into(), path.into())]);
        let privacy = Privacy::of_home(home, &environment);
        assert_eq!(privacy.hidden, [home.to_path_buf(), home.join(".cargo/credentials.toml")]);
        let shown = [".cargo", "envs/one", "envs/one/bin", "tools/bin"].map(|folder| home.join(folder));
        assert_eq!(privacy.shown, shown);
        assert_eq!(Privacy::of_home(Path::new("/"), &environment), Privacy::default());
    }
}
