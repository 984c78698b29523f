//! A temporary repository in which one commit is made. It borrows all objects from the user's repository and shares
//! nothing that a hook could damage. Hooks may run code that agents wrote, so git does not read this repository's settings
//! after the commit.

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

/// The result of `git commit` in the temporary repository.
pub(super) struct CommitAttempt {
    pub(super) code: i32,
    /// Standard output and standard error.
    pub(super) output: Vec<u8>,
    /// The new commit, which the user's repository does not have yet.
    pub(super) commit: Option<CommitId>,
}

impl RunTrees {
    /// Creates the temporary repository, with its branch at `parent` and its index at `state`. It ignores the files that were
    /// added for hooks.
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
        let words = ["init", "--quiet", "--bare", "--template=", "--object-format", &format];
        let words = words.iter().map(AsRef::as_ref).chain([git_dir.as_os_str()]);
        git(&self.repository.objects(), words).run()?;
        let write = |file: &str, bytes: &[u8]| {
            let file = git_dir.join(file);
            let folder = file.parent().unwrap_or(&git_dir);
            fs::create_dir_all(folder).map_err(error::file("create", folder))?;
            fs::write(&file, bytes).map_err(error::file("write", &file))
        };
        let objects = [common.join("objects").as_os_str().as_bytes(), b"\n"].concat();
        write("objects/info/alternates", &objects)?;
        // Both files are optional.
        for file in ["shallow", "info/attributes"] {
            if let Ok(bytes) = fs::read(common.join(file)) {
                write(file, &bytes)?;
            }
        }
        // The file is optional.
        let ignored = fs::read(common.join("info/exclude")).unwrap_or_default();
        write("info/exclude", &[ignored, b"\n".to_vec(), hook_files.exclude_lines()].concat())?;
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
        // With the file times of the engine's index, git need not read every file again.
        if main.private("index").exists() {
            main.copy_index(&git_dir.join("index"))?;
        }
        git(&tree, ["read-tree", "--reset", state.tree.tree()]).run()?;
        // Git exits with 1 if a file differs from the index. That does not matter: the commit is made from the index.
        git(&tree, ["update-index", "-q", "--refresh"]).run_unchecked()?;
        Ok(SideRepository { git_dir, branch, base: parent.clone() })
    }

    /// Runs `git commit` in the temporary repository, with the hooks in a folder.
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
        let limits = self.repository.programs.limits();
        let hooks = if limits.is_some() { hooks } else { Path::new("/dev/null") };
        set("core.hooksPath", hooks.as_os_str());
        let words = ["commit", "--quiet", "--no-status", "--cleanup=verbatim", "-F", "-"].map(OsString::from);
        let words = settings.into_iter().chain(words);
        let mut call = Call::new(&main.context_of(&side.git_dir), CallMode::AsUser, words)
            .input(message.as_bytes().to_vec());
        for who in ["AUTHOR", "COMMITTER"] {
            let (name, email) = self.identity_of(&user, who)?;
            call = call.env(&format!("GIT_{who}_NAME"), &name).env(&format!("GIT_{who}_EMAIL"), &email);
        }
        let output = match limits {
            Some(limits) => {
                limits.commit(call.invocation(), &[&side.git_dir, main.path()], &hook_files.reads)?
            }
            None => call.run_unchecked()?,
        };
        let (code, output) = (output.code, [output.stdout, output.stderr].concat());
        Ok(CommitAttempt { code, output, commit: side.new_commit()? })
    }

    /// Copies a commit and its new objects into the user's repository.
    pub(super) fn adopt(&self, side: &SideRepository, commit: &CommitId) -> Result<(), GitError> {
        let context = self.repository.objects();
        let revisions = format!("{commit}\n^{}\n", side.base);
        let pack = git(&context, ["pack-objects", "--quiet", "--revs", "--stdout"])
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", side.git_dir.join("objects"))
            .input(revisions.into_bytes())
            .run()?;
        git(&context, ["unpack-objects", "-q", "--strict"]).input(pack).run().map(drop)
    }

    /// Returns the commit, signed with the user's key if the user's settings ask for it. No code of an agent runs here.
    pub(super) fn sign_if_configured(
        &self,
        commit: CommitId,
        parent: &CommitId,
    ) -> Result<CommitId, GitError> {
        // A relative path to a signer refers to the user's checkout, not to the run's tree.
        let user = self.repository.checkout();
        let setting =
            Call::new(&user, CallMode::AsUser, ["config", "--type=bool", "--get", "commit.gpgSign"]);
        if String::from_utf8_lossy(&setting.run_unchecked()?.stdout).trim() != "true" {
            return Ok(commit);
        }
        let objects = self.repository.objects();
        let raw = git(&objects, ["cat-file", "commit", commit.as_str()]).run()?;
        let message_start = raw.windows(2).position(|pair| pair == b"\n\n").map_or(raw.len(), |at| at + 2);
        let log = git(&objects, ["log", "-1", "--format=%T%n%an%n%ae%n%ad%n%cn%n%ce%n%cd", "--date=raw"]);
        let log = log.arg(commit.as_str()).run()?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let mut lines = log.lines();
        let tree = lines.next().unwrap_or_default().to_string();
        let words = ["commit-tree", "-S", &tree, "-p", parent.as_str(), "-F", "-"];
        let mut call = Call::new(&user, CallMode::AsUser, words).input(raw[message_start..].to_vec());
        for name in ["AUTHOR_NAME", "AUTHOR_EMAIL", "AUTHOR_DATE", "COMMITTER_NAME", "COMMITTER_EMAIL"] {
            call = call.env(&format!("GIT_{name}"), lines.next().unwrap_or_default());
        }
        let call = call.env("GIT_COMMITTER_DATE", lines.next().unwrap_or_default());
        let command = call.command_line().to_string();
        let output = match self.repository.programs.limits() {
            Some(limits) => limits.sign(call.invocation())?,
            None => call.run_unchecked()?,
        };
        let signed = output.into_stdout(command.clone(), self.repository.root()).map_err(signing_failure)?;
        line(signed, command)?.parse()
    }

    /// Removes the temporary repository.
    pub(super) fn remove_side_repository(&self, side: &SideRepository) -> Result<(), GitError> {
        remove(&side.git_dir)
    }

    /// The name and e-mail address that git uses for the author or the committer.
    fn identity_of(&self, user: &GitContext, who: &str) -> Result<(String, String), GitError> {
        let identity = Call::new(user, CallMode::AsUser, ["var", &format!("GIT_{who}_IDENT")]).line()?;
        let unreadable = || GitError::Unreadable { command: "git var".to_string(), detail: identity.clone() };
        let (name, rest) = identity.split_once(" <").ok_or_else(unreadable)?;
        let (email, _) = rest.split_once('>').ok_or_else(unreadable)?;
        Ok((name.to_string(), email.to_string()))
    }

    /// The branches and tags that a hook may compare with, in the format of `packed-refs`.
    fn known_references(&self) -> Result<Vec<u8>, GitError> {
        let words = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let words = words.into_iter().chain(["refs/heads", "refs/tags", "refs/remotes"]);
        let all = git(&self.repository.objects(), words).run()?;
        let branch = self.branch_reference();
        let kept = all.split_inclusive(|byte| *byte == b'\n');
        let kept = kept.filter(|line| !line.trim_ascii_end().ends_with(branch.as_bytes()));
        Ok(kept.flatten().copied().collect())
    }
}

impl SideRepository {
    /// The new commit on the branch. Reads the reference as a file, since hooks may have changed the repository's settings.
    fn new_commit(&self) -> Result<Option<CommitId>, GitError> {
        let file = self.git_dir.join(&self.branch);
        let text = fs::read_to_string(&file).map_err(error::file("read", &file))?;
        let tip: CommitId = text.trim().parse()?;
        Ok((tip != self.base).then_some(tip))
    }
}

/// Attributes a failure of the signing call to the signer, unless the disk is full.
fn signing_failure(error: GitError) -> GitError {
    match error {
        GitError::Failed { stderr, .. } if !stderr.contains("No space left") => {
            GitError::SigningFailed { detail: stderr }
        }
        other => other,
    }
}
