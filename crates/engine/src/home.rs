//! The state directory: one folder for each repository, owned by the user, outside every tree that an agent may write.

use remand_git::{GitError, Repository, private_folder};
use remand_ledger::RunId;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The file that records where the repository was last seen: its checkout, and the git directory that all its checkouts
/// share.
const LAST_SEEN: &str = "repository";

/// The folder of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// Why the state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("no home directory was found for the state")]
    NoHome,
    #[error("the state directory {} is inside {}, which belongs to the repository", state.display(), folder.display())]
    InsideRepository { state: PathBuf, folder: PathBuf },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the state directory {path} cannot be used")]
    Unusable { path: PathBuf, source: io::Error },
}

impl HomeError {
    pub fn hint(&self) -> String {
        match self {
            HomeError::NoHome => "set HOME, XDG_STATE_HOME or REMAND_STATE_DIR".to_string(),
            HomeError::InsideRepository { .. } => {
                "set REMAND_STATE_DIR to a folder outside of it, where tools and agents do not find the state"
                    .to_string()
            }
            HomeError::Git(error) => error.hint(),
            HomeError::Unusable { .. } => {
                "make it writable by you alone, or set REMAND_STATE_DIR to another folder".to_string()
            }
        }
    }
}

impl Home {
    /// Opens the folder of a repository. It is created if it does not exist, and only its owner can read it. If the
    /// repository is a copy of one that still exists, it gets a new folder.
    pub fn open(root: &Path, repository: &Repository) -> Result<Home, HomeError> {
        let unusable = |path: &Path| {
            let path = path.to_path_buf();
            move |source| HomeError::Unusable { path, source }
        };
        let absolute = std::path::absolute(root).map_err(unusable(root))?;
        refuse_inside(&absolute, repository)?;
        let id = repository.identity()?;
        let mut home = Home { root: absolute.join(&id) };
        if let Some(last) = home.last_seen()
            && repository.is_copy_of(&last)?
        {
            home = Home { root: absolute.join(repository.replace_copied_identity(&id)?) };
        }
        // Existing folders up to here belong to the user and keep their mode.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&absolute).map_err(unusable(&absolute))?;
        for folder in [home.root.clone(), home.runs(), home.trees()] {
            private_folder(&folder).map_err(unusable(&folder))?;
        }
        let (seen, shared) = (home.root.join(LAST_SEEN), repository.common_dir().display());
        let text = format!("{}\n{shared}\n", repository.root().display());
        if fs::read_to_string(&seen).ok().as_ref() != Some(&text) {
            fs::write(&seen, text).map_err(unusable(&seen))?;
        }
        Ok(home)
    }

    /// The folders of all repositories below a state directory that have a ledger, by name.
    pub fn all(root: &Path) -> io::Result<Vec<Home>> {
        let root = std::path::absolute(root)?;
        let mut homes = Vec::new();
        for entry in fs::read_dir(&root)? {
            let home = Home { root: entry?.path() };
            if home.ledger().is_file() {
                homes.push(home);
            }
        }
        homes.sort_by(|one, other| one.root.cmp(&other.root));
        Ok(homes)
    }

    /// The checkout that used this folder last; it may be gone.
    pub fn checkout(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.root.join(LAST_SEEN)).ok()?;
        text.lines().next().map(PathBuf::from)
    }

    /// The shared git directory of the repository that used this folder last.
    fn last_seen(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.root.join(LAST_SEEN)).ok()?;
        let mut lines = text.lines();
        let checkout = Path::new(lines.next()?);
        Some(lines.next().map_or_else(|| checkout.join(".git"), PathBuf::from))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with the state of all repositories.
    pub fn state_root(&self) -> &Path {
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

    /// The folder of a run, with its files for people: artifacts, the evidence bundle, dispatches.
    pub fn run(&self, run: &RunId) -> PathBuf {
        self.runs().join(&run.0)
    }

    /// The work trees of a run.
    pub fn trees_of(&self, run: &RunId) -> PathBuf {
        self.trees().join(&run.0)
    }
}

/// Refuses a state directory in a checkout, which agents and tools read, or in the git directory, which git reads.
fn refuse_inside(state: &Path, repository: &Repository) -> Result<(), HomeError> {
    let real = state.ancestors().find_map(|folder| folder.canonicalize().ok());
    let folders = repository.folders().into_iter().filter_map(|folder| folder.canonicalize().ok());
    match folders.into_iter().find(|folder| real.as_ref().is_some_and(|state| state.starts_with(folder))) {
        Some(folder) => Err(HomeError::InsideRepository { state: state.to_path_buf(), folder }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Checkout {
        temp: tempfile::TempDir,
        repository: Repository,
    }

    impl Checkout {
        fn new() -> Checkout {
            let temp = tempfile::tempdir().expect("temp");
            let folder = temp.path().join("checkout");
            fs::create_dir(&folder).expect("folder");
            fs::write(folder.join("a"), "a").expect("file");
            let repository = Repository::create(&folder, "work", "a file").expect("a repository");
            Checkout { temp, repository }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.temp.path().join(name)
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("found").permissions().mode() & 0o777
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).expect("folder");
        for entry in fs::read_dir(from).expect("list").flatten() {
            let to = to.join(entry.file_name());
            if entry.file_type().expect("kind").is_dir() {
                copy(&entry.path(), &to);
            } else {
                fs::copy(entry.path(), to).expect("copied");
            }
        }
    }

    // CORE-05
    #[test]
    fn state_is_private_and_never_inside_the_repository() {
        let checkout = Checkout::new();
        let home = Home::open(&checkout.path("state"), &checkout.repository).expect("home");
        assert_eq!((mode(home.root()), mode(home.state_root())), (0o700, 0o700));
        let linked = checkout.path("checkout/.git/worktrees/linked");
        fs::create_dir_all(&linked).expect("folder");
        fs::create_dir(checkout.path("linked")).expect("folder");
        let link = checkout.path("linked/.git");
        fs::write(linked.join("gitdir"), format!("{}\n", link.display())).expect("file");
        for inside in ["checkout/deep/state", "checkout/.git/state", "linked/state"] {
            let refused = Home::open(&checkout.path(inside), &checkout.repository);
            assert!(matches!(refused, Err(HomeError::InsideRepository { .. })), "{inside}");
            assert!(!checkout.path(inside).exists());
        }
    }

    // CORE-05
    #[test]
    fn an_existing_state_directory_keeps_its_mode_and_our_folder_in_it_is_private() {
        let checkout = Checkout::new();
        let shared = checkout.path("shared");
        fs::create_dir(&shared).expect("folder");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).expect("mode");
        let home = Home::open(&shared, &checkout.repository).expect("home");
        assert_eq!((mode(&shared), mode(home.root())), (0o755, 0o700));
        fs::set_permissions(home.root(), fs::Permissions::from_mode(0o755)).expect("mode");
        Home::open(&shared, &checkout.repository).expect("home");
        assert_eq!(mode(home.root()), 0o700);
    }

    #[test]
    fn a_copy_of_a_repository_gets_its_own_folder_and_a_moved_checkout_keeps_its_folder() {
        let checkout = Checkout::new();
        let state = checkout.path("state");
        let first = Home::open(&state, &checkout.repository).expect("home");
        copy(&checkout.path("checkout"), &checkout.path("copy"));
        let copied = Repository::discover(&checkout.path("copy")).expect("a repository");
        let second = Home::open(&state, &copied).expect("home");
        assert_ne!(second, first);
        assert_eq!(Home::open(&state, &copied).expect("home"), second, "the same folder again");
        assert_eq!(Home::open(&state, &checkout.repository).expect("home"), first);

        fs::rename(checkout.path("checkout"), checkout.path("moved")).expect("moved");
        let moved = Repository::discover(&checkout.path("moved")).expect("a repository");
        assert_eq!(Home::open(&state, &moved).expect("home"), first);
    }

    #[test]
    fn all_repositories_with_a_ledger_are_found_with_their_checkouts() {
        let checkout = Checkout::new();
        let state = checkout.path("state");
        let home = Home::open(&state, &checkout.repository).expect("home");
        assert_eq!(Home::all(&state).expect("readable"), [], "a repository without runs");
        fs::write(home.ledger(), "").expect("a ledger");
        fs::write(state.join("other"), "").expect("a file");
        assert_eq!(Home::all(&state).expect("readable"), [home]);
        let found = Home::all(&state).expect("readable").remove(0).checkout();
        assert_eq!(found.as_deref(), Some(checkout.repository.root()));
    }

    #[test]
    fn an_id_that_is_not_a_plain_name_is_refused_with_a_remedy() {
        let checkout = Checkout::new();
        let file = checkout.path("checkout/.git/remand/id");
        fs::create_dir_all(file.parent().expect("a folder")).expect("folder");
        for invalid in ["", "../../elsewhere\n", "0123456789ABCDEF0123456789abcdef\n"] {
            fs::write(&file, invalid).expect("file");
            let refused = Home::open(&checkout.path("state"), &checkout.repository).expect_err("refused");
            assert!(matches!(refused, HomeError::Git(GitError::InvalidIdentity { .. })), "{refused}");
            assert!(refused.hint().contains("delete the file"));
        }
    }

    #[test]
    fn a_folder_that_others_can_read_becomes_private() {
        let temp = tempfile::tempdir().expect("temp");
        let state = temp.path().join("state");
        fs::create_dir(&state).expect("state");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("mode");
        private_folder(&state).expect("made private");
        assert_eq!(fs::metadata(&state).expect("state").permissions().mode() & 0o777, 0o700);
    }
}
