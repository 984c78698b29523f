//! A temporary repository in which one commit is made. It borrows all objects from the user's repository and shares
//! nothing that a hook could damage. Hooks run code that agents wrote, so nothing that they leave is read as settings.

use super::call::{Call, GitContext, git};
use super::invocation::{CallMode, line};
use super::remove::remove;
use super::{CommitId, CommitState, GitError, HookFiles, RunTrees, error};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The temporary repository.
pub(super) struct SideRepository {
    git_dir: PathBuf,
    branch: String,
    pub(super) base: CommitId,
}

/// How `git commit` ended in it.
pub(super) struct CommitAttempt {
    pub(super) code: i32,
    pub(super) said: Vec<u8>,
    /// The new commit, which the user's repository does not have yet.
    pub(super) commit: Option<CommitId>,
}

impl RunTrees {
    /// Creates the repository, with its branch at `parent` and its index at `state`. It ignores the files that were added
    /// for hooks.
    pub(super) fn create_side_repository(
        &self,
        state: &CommitState,
        parent: &CommitId,
        hook_files: &HookFiles,
    ) -> Result<SideRepository, GitError> {
        let main = self.main_tree();
        let common = self.repository.common_dir();
        let git_dir = main.private("commit");
        remove(&git_dir)?;
        let format = git(&self.repository.objects(), ["rev-parse", "--show-object-format"]).line()?;
        let made = ["init", "--quiet", "--bare", "--template=", "--object-format", &format];
        let made = made.iter().map(AsRef::as_ref).chain([git_dir.as_os_str()]);
        git(&self.repository.objects(), made).run()?;
        let write = |file: &str, bytes: &[u8]| {
            let file = git_dir.join(file);
            let folder = file.parent().unwrap_or(&git_dir);
            fs::create_dir_all(folder).map_err(error::file("create", folder))?;
            fs::write(&file, bytes).map_err(error::file("write", &file))
        };
        let objects = [common.join("objects").as_os_str().as_bytes(), b"\n"].concat();
        write("objects/info/alternates", &objects)?;
        // Most repositories have neither of these.
        for file in ["shallow", "info/attributes"] {
            if let Ok(bytes) = fs::read(common.join(file)) {
                write(file, &bytes)?;
            }
        }
        // The file is optional.
        let ignored = fs::read(common.join("info/exclude")).unwrap_or_default();
        write("info/exclude", &[ignored, b"\n".to_vec(), hook_files.ignored()].concat())?;
        write("packed-refs", &self.known_references()?)?;
        let context = GitContext::objects(&git_dir);
        let config = common.join("config");
        let include = ["config", "include.path"].iter().map(AsRef::as_ref).chain([config.as_os_str()]);
        git(&context, include).run()?;
        git(&context, ["config", "core.bare", "false"]).run()?;
        let branch = self.branch_reference();
        git(&context, ["update-ref", &branch, parent.as_str()]).run()?;
        git(&context, ["symbolic-ref", "HEAD", &branch]).run()?;
        let tree = main.context_of(&git_dir);
        git(&tree, ["read-tree", state.tree.tree()]).run()?;
        // Git exits with 1 if a file differs from the index. That does not matter: the commit is made from the index.
        git(&tree, ["update-index", "-q", "--refresh"]).answer()?;
        Ok(SideRepository { git_dir, branch, base: parent.clone() })
    }

    /// Runs `git commit` in it, with the hooks of a folder.
    pub(super) fn try_commit(
        &self,
        side: &SideRepository,
        message: &str,
        hooks: &Path,
        hook_files: &HookFiles,
    ) -> Result<CommitAttempt, GitError> {
        let (main, user) = (self.main_tree(), self.repository.checkout());
        let mut settings: Vec<OsString> = Vec::new();
        let mut set = |name: &str, value: &std::ffi::OsStr| {
            let mut setting = OsString::from(format!("{name}="));
            setting.push(value);
            settings.extend(["-c".into(), setting]);
        };
        set("commit.gpgSign", "false".as_ref());
        set("core.logAllRefUpdates", "false".as_ref());
        let bounds = self.repository.programs.bounds();
        let hooks = if bounds.is_some() { hooks } else { Path::new("/dev/null") };
        set("core.hooksPath", hooks.as_os_str());
        let words = ["commit", "--quiet", "--no-status", "--cleanup=verbatim", "-F", "-"].map(OsString::from);
        let words = settings.into_iter().chain(words);
        let mut call = Call::new(&main.context_of(&side.git_dir), CallMode::AsUser, words)
            .input(message.as_bytes().to_vec());
        for who in ["AUTHOR", "COMMITTER"] {
            let (name, email) = self.identity_of(&user, who)?;
            call = call.with(&format!("GIT_{who}_NAME"), &name).with(&format!("GIT_{who}_EMAIL"), &email);
        }
        let answer = match bounds {
            Some(bounds) => {
                bounds.commit(call.invocation(), &[&side.git_dir, main.path()], &hook_files.reads)?
            }
            None => call.answer()?,
        };
        let (code, said) = (answer.code, [answer.stdout, answer.stderr].concat());
        Ok(CommitAttempt { code, said, commit: side.new_commit()? })
    }

    /// Copies a commit and its new objects into the user's repository.
    pub(super) fn adopt(&self, side: &SideRepository, commit: &CommitId) -> Result<(), GitError> {
        let context = self.repository.objects();
        let wanted = format!("{commit}\n^{}\n", side.base);
        let pack = git(&context, ["pack-objects", "--quiet", "--revs", "--stdout"])
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", side.git_dir.join("objects"))
            .input(wanted.into_bytes())
            .run()?;
        git(&context, ["unpack-objects", "-q", "--strict"]).input(pack).run().map(drop)
    }

    /// Returns the commit, signed with the user's key if their settings ask for it. No code of an agent runs here.
    pub(super) fn sign_if_configured(
        &self,
        commit: CommitId,
        parent: &CommitId,
    ) -> Result<CommitId, GitError> {
        // A relative path to a signer refers to the user's checkout, not to the run's tree.
        let user = self.repository.checkout();
        let asked = Call::new(&user, CallMode::AsUser, ["config", "--type=bool", "--get", "commit.gpgSign"]);
        if String::from_utf8_lossy(&asked.answer()?.stdout).trim() != "true" {
            return Ok(commit);
        }
        let objects = self.repository.objects();
        let raw = git(&objects, ["cat-file", "commit", commit.as_str()]).run()?;
        let text = raw.windows(2).position(|pair| pair == b"\n\n").map_or(raw.len(), |at| at + 2);
        let said = git(&objects, ["log", "-1", "--format=%T%n%an%n%ae%n%ad%n%cn%n%ce%n%cd", "--date=raw"]);
        let said = said.and(commit.as_str()).run()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut lines = said.lines();
        let tree = lines.next().unwrap_or_default().to_string();
        let words = ["commit-tree", "-S", &tree, "-p", parent.as_str(), "-F", "-"];
        let mut call = Call::new(&user, CallMode::AsUser, words).input(raw[text..].to_vec());
        for name in ["AUTHOR_NAME", "AUTHOR_EMAIL", "AUTHOR_DATE", "COMMITTER_NAME", "COMMITTER_EMAIL"] {
            call = call.with(&format!("GIT_{name}"), lines.next().unwrap_or_default());
        }
        let call = call.with("GIT_COMMITTER_DATE", lines.next().unwrap_or_default());
        let words = call.words().to_string();
        let answer = match self.repository.programs.bounds() {
            Some(bounds) => bounds.sign(call.invocation())?,
            None => call.answer()?,
        };
        let signed = answer.output(words.clone(), self.repository.root()).map_err(signing_failure)?;
        line(signed, words)?.parse()
    }

    /// Removes the repository.
    pub(super) fn remove_side_repository(&self, side: &SideRepository) -> Result<(), GitError> {
        remove(&side.git_dir)
    }

    /// The name and e-mail address that git would use.
    fn identity_of(&self, user: &GitContext, who: &str) -> Result<(String, String), GitError> {
        let said = Call::new(user, CallMode::AsUser, ["var", &format!("GIT_{who}_IDENT")]).line()?;
        let unread = || GitError::Unreadable { command: "git var".to_string(), detail: said.clone() };
        let (name, rest) = said.split_once(" <").ok_or_else(unread)?;
        let (email, _) = rest.split_once('>').ok_or_else(unread)?;
        Ok((name.to_string(), email.to_string()))
    }

    /// The branches and tags that a hook may want to compare with, in the format of `packed-refs`.
    fn known_references(&self) -> Result<Vec<u8>, GitError> {
        let words = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let words = words.into_iter().chain(["refs/heads", "refs/tags", "refs/remotes"]);
        let all = git(&self.repository.objects(), words).run()?;
        let own = self.branch_reference();
        let kept = all.split_inclusive(|byte| *byte == b'\n');
        let kept = kept.filter(|line| !line.trim_ascii_end().ends_with(own.as_bytes()));
        Ok(kept.flatten().copied().collect())
    }
}

impl SideRepository {
    /// The new commit on its branch. Reads the file as text, since hooks may have changed the repository's settings.
    fn new_commit(&self) -> Result<Option<CommitId>, GitError> {
        let file = self.git_dir.join(&self.branch);
        let text = fs::read_to_string(&file).map_err(error::file("read", &file))?;
        let tip: CommitId = text.trim().parse()?;
        Ok((tip != self.base).then_some(tip))
    }
}

/// A failure while signing is the signer's, whatever git reports, unless the disk is full.
fn signing_failure(error: GitError) -> GitError {
    match error {
        GitError::Failed { stderr, .. } if !stderr.contains("No space left") => {
            GitError::SigningFailed { detail: stderr }
        }
        other => other,
    }
}
