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

/// Files of environments of Python and Conda with addresses and passwords of package servers, and variables that activation
/// sets. They stay hidden too.
const SECRETS_OF_ENVIRONMENTS: &[&str] =
    &["pip.conf", ".condarc", "conda-meta/state", "etc/conda/activate.d", "etc/conda/env_vars.d"];

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
        let mut privacy = Privacy { hidden, shown: Vec::new() };
        privacy.show_packages(shown);
        privacy
    }

    /// Hides folders, also where one of them was shown, as the root of an environment may be.
    pub fn hide(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        for folder in folders {
            self.shown.retain(|shown| real(shown) != real(&folder));
            self.hidden.push(folder);
        }
    }

    /// Shows folders of toolchains and packages, without the secrets of those that are an environment.
    pub fn show_packages(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        for folder in folders {
            let secrets = SECRETS_OF_ENVIRONMENTS.iter().map(|path| folder.join(path));
            self.hidden.extend(secrets.filter(|path| path.exists()));
            self.shown.push(folder);
        }
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
        std::fs::write(home.join("envs/one/pip.conf"), "index-url = https://me:word@host").expect("file");
        std::fs::write(home.join(".cargo/credentials.toml"), "token").expect("file");
        let folders =
            [home.join("tools/bin"), "/usr/bin".into(), home.join("envs/one/bin"), home.to_path_buf()];
        let path = std::env::join_paths(folders).expect("a path").into_string().expect("text");
        let environment = BTreeMap::from([("PATH".into(), path.into())]);
        let privacy = Privacy::of_home(home, &environment);
        let hidden = ["", ".cargo/credentials.toml", "envs/one/pip.conf"].map(|path| home.join(path));
        assert_eq!(privacy.hidden, hidden);
        let shown = [".cargo", "envs/one", "envs/one/bin", "tools/bin"].map(|folder| home.join(folder));
        assert_eq!(privacy.shown, shown);
        assert_eq!(Privacy::of_home(Path::new("/"), &environment), Privacy::default());
    }

    // CORE-05 EP-30
    #[test]
    fn a_checkout_that_is_itself_an_environment_stays_hidden() {
        let temp = tempfile::tempdir().expect("temp");
        let home = temp.path().canonicalize().expect("a path");
        let checkout = home.join("shop");
        std::fs::create_dir_all(checkout.join("bin")).expect("folder");
        for file in ["pyvenv.cfg", ".env", "pip.conf"] {
            std::fs::write(checkout.join(file), "").expect("file");
        }
        let environment = BTreeMap::from([("PATH".into(), checkout.join("bin").into_os_string())]);
        let mut privacy = Privacy::of_home(&home, &environment);
        assert!(privacy.shown.contains(&checkout));
        privacy.hide([checkout.clone()]);
        assert_eq!(privacy.shown, [checkout.join("bin")]);
        let readable = super::super::readable::readable(&privacy.hidden, &privacy.shown);
        let inside: Vec<_> = readable.into_iter().filter(|path| path.starts_with(&checkout)).collect();
        assert_eq!(inside, [checkout.join("bin")]);
    }
}
