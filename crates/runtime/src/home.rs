//! The state directory: one folder for each repository, owned by the user, outside every tree that an agent may write.

use remand_ledger::RunId;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// Why there is no folder to keep state in.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("there is no home directory to keep state in")]
    NoHome,
    #[error("the state directory {state} lies inside the checkout {checkout}")]
    InsideCheckout { state: PathBuf, checkout: PathBuf },
    #[error("the state directory {path} cannot be used")]
    Unusable { path: PathBuf, source: io::Error },
}

impl HomeError {
    pub fn hint(&self) -> &'static str {
        match self {
            HomeError::NoHome => "set HOME, XDG_STATE_HOME or REMAND_STATE_DIR",
            HomeError::InsideCheckout { .. } => {
                "set REMAND_STATE_DIR to a folder outside of it: tools and agents would find the state there"
            }
            HomeError::Unusable { .. } => {
                "make it writable for you alone, or set REMAND_STATE_DIR to another folder"
            }
        }
    }
}

impl Home {
    /// Opens the folder of a repository, and makes it if need be, for its owner alone.
    pub fn open(root: &Path, identity: &str, checkout: &Path) -> Result<Home, HomeError> {
        let unusable = |path: &Path| {
            let path = path.to_path_buf();
            move |source| HomeError::Unusable { path, source }
        };
        let checkout = checkout.canonicalize().map_err(unusable(checkout))?;
        let absolute = std::path::absolute(root).map_err(unusable(root))?;
        let inside = |path: &Path| {
            path.ancestors()
                .find_map(|above| above.canonicalize().ok())
                .is_some_and(|above| above.starts_with(&checkout))
        };
        if inside(&absolute) {
            return Err(HomeError::InsideCheckout { state: absolute, checkout });
        }
        let home = Home { root: absolute.join(identity) };
        for folder in [absolute.clone(), home.root.clone(), home.runs(), home.trees()] {
            private_folder(&folder).map_err(unusable(&folder))?;
        }
        let seen = home.root.join("repository");
        fs::write(&seen, format!("{}\n", checkout.display())).map_err(unusable(&seen))?;
        Ok(home)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with the state of all repositories.
    pub fn above(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    pub fn ledger(&self) -> PathBuf {
        self.root.join("ledger.db")
    }

    /// The key that exported evidence is signed with.
    pub fn signing_key(&self) -> PathBuf {
        self.root.join("signing.key")
    }

    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    pub fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    /// What people can read of a run: artifacts, the evidence bundle, its dispatches.
    pub fn run(&self, run: &RunId) -> PathBuf {
        self.runs().join(&run.0)
    }

    /// The work trees of a run.
    pub fn trees_of(&self, run: &RunId) -> PathBuf {
        self.trees().join(&run.0)
    }
}

/// Makes a folder that only its owner can look into.
pub fn private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-05
    #[test]
    fn state_is_private_and_never_inside_the_checkout() {
        let temp = tempfile::tempdir().expect("temp");
        let checkout = temp.path().join("checkout");
        fs::create_dir(&checkout).expect("checkout");
        let home = Home::open(&temp.path().join("state"), "abc", &checkout).expect("home");
        let mode = fs::metadata(home.root()).expect("root").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let inside = Home::open(&checkout.join("deep/state"), "abc", &checkout);
        assert!(matches!(inside, Err(HomeError::InsideCheckout { .. })));
        assert!(!checkout.join("deep").exists());
    }

    #[test]
    fn a_folder_open_to_others_is_closed() {
        let temp = tempfile::tempdir().expect("temp");
        let state = temp.path().join("state");
        fs::create_dir(&state).expect("state");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("mode");
        private_folder(&state).expect("closed");
        assert_eq!(fs::metadata(&state).expect("state").permissions().mode() & 0o777, 0o700);
    }
}
