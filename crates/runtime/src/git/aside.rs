//! A repository beside the user's in which one commit is made: it borrows all objects and shares nothing that a hook
//! could harm. Hooks run code that agents have written, so nothing that they leave behind is read as settings.

use super::call::{Call, Manner, Place, git, line};
use super::remove::remove;
use super::{CommitId, Fittings, GitError, RunTrees, State, error};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The repository beside the user's.
pub(super) struct Aside {
    git_dir: PathBuf,
    branch: String,
    pub(super) base: CommitId,
}

/// How `git commit` ended there.
pub(super) struct Tried {
    pub(super) code: i32,
    pub(super) said: Vec<u8>,
    /// Not yet known to the user's repository.
    pub(super) commit: Option<CommitId>,
}

impl RunTrees {
    /// Makes the repository anew, with its branch on a commit and its index on a state; what was put into the tree for hooks
    /// is ignored there.
    pub(super) fn aside(
        &self,
        state: &State,
        parent: &CommitId,
        fittings: &Fittings,
    ) -> Result<Aside, GitError> {
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
        for file in ["shallow", "info/attributes"] {
            if let Ok(bytes) = fs::read(common.join(file)) {
                write(file, &bytes)?;
            }
        }
        let ignored = fs::read(common.join("info/exclude")).unwrap_or_default();
        write("info/exclude", &[ignored, b"\n".to_vec(), fittings.ignored()].concat())?;
        write("packed-refs", &self.known_references()?)?;
        let place = Place::objects(&git_dir);
        let config = common.join("config");
        let include = ["config", "include.path"].iter().map(AsRef::as_ref).chain([config.as_os_str()]);
        git(&place, include).run()?;
        git(&place, ["config", "core.bare", "false"]).run()?;
        let branch = self.branch_reference();
        git(&place, ["update-ref", &branch, parent.as_str()]).run()?;
        git(&place, ["symbolic-ref", "HEAD", &branch]).run()?;
        let tree = main.place_of(&git_dir);
        git(&tree, ["read-tree", state.tree.tree()]).run()?;
        // It ends with 1 where a file is not as in the index, and the commit is made from the index.
        git(&tree, ["update-index", "-q", "--refresh"]).answer()?;
        Ok(Aside { git_dir, branch, base: parent.clone() })
    }

    /// Runs `git commit` there, with the hooks of a folder.
    pub(super) fn try_commit(
        &self,
        aside: &Aside,
        message: &str,
        hooks: &Path,
        fittings: &Fittings,
    ) -> Result<Tried, GitError> {
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
        let mut call = Call::new(&main.place_of(&aside.git_dir), Manner::AsUser, words)
            .input(message.as_bytes().to_vec());
        for who in ["AUTHOR", "COMMITTER"] {
            let (name, email) = self.identity_of(&user, who)?;
            call = call.with(&format!("GIT_{who}_NAME"), &name).with(&format!("GIT_{who}_EMAIL"), &email);
        }
        let answer = match bounds {
            Some(bounds) => bounds.commit(call, &[&aside.git_dir, main.path()], &fittings.reads)?,
            None => call.answer()?,
        };
        let (code, said) = (answer.code, [answer.stdout, answer.stderr].concat());
        Ok(Tried { code, said, commit: aside.made()? })
    }

    /// Takes a commit with all that is new in it over into the user's repository.
    pub(super) fn adopt(&self, aside: &Aside, commit: &CommitId) -> Result<(), GitError> {
        let place = self.repository.objects();
        let wanted = format!("{commit}\n^{}\n", aside.base);
        let pack = git(&place, ["pack-objects", "--quiet", "--revs", "--stdout"])
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", aside.git_dir.join("objects"))
            .input(wanted.into_bytes())
            .run()?;
        git(&place, ["unpack-objects", "-q", "--strict"]).input(pack).run().map(drop)
    }

    /// Gives the commit, signed if the user's settings say so: by the user's own key, and with no code of an agent near.
    pub(super) fn signed(&self, commit: CommitId, parent: &CommitId) -> Result<CommitId, GitError> {
        // A signer that is named by a relative path is the one of the checkout, not one of the run's tree.
        let user = self.repository.checkout();
        let asked = Call::new(&user, Manner::AsUser, ["config", "--type=bool", "--get", "commit.gpgSign"]);
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
        let mut call = Call::new(&user, Manner::AsUser, words).input(raw[text..].to_vec());
        for name in ["AUTHOR_NAME", "AUTHOR_EMAIL", "AUTHOR_DATE", "COMMITTER_NAME", "COMMITTER_EMAIL"] {
            call = call.with(&format!("GIT_{name}"), lines.next().unwrap_or_default());
        }
        let call = call.with("GIT_COMMITTER_DATE", lines.next().unwrap_or_default());
        let words = call.words().to_string();
        let answer = match self.repository.programs.bounds() {
            Some(bounds) => bounds.sign(call)?,
            None => call.answer()?,
        };
        let signed = answer.output(words.clone(), self.repository.root()).map_err(of_signer)?;
        line(signed, words)?.parse()
    }

    /// Removes what was made here.
    pub(super) fn leave(&self, aside: &Aside) -> Result<(), GitError> {
        remove(&aside.git_dir)
    }

    /// Name and address as git would take them.
    fn identity_of(&self, user: &Place, who: &str) -> Result<(String, String), GitError> {
        let said = Call::new(user, Manner::AsUser, ["var", &format!("GIT_{who}_IDENT")]).line()?;
        let unread = || GitError::Unreadable { command: "git var".to_string(), detail: said.clone() };
        let (name, rest) = said.split_once(" <").ok_or_else(unread)?;
        let (email, _) = rest.split_once('>').ok_or_else(unread)?;
        Ok((name.to_string(), email.to_string()))
    }

    /// The branches and tags that a hook may compare with.
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

impl Aside {
    /// The commit on the branch there, read as text: what hooks made of this repository is not trusted.
    fn made(&self) -> Result<Option<CommitId>, GitError> {
        let file = self.git_dir.join(&self.branch);
        let text = fs::read_to_string(&file).map_err(error::file("read", &file))?;
        let tip: CommitId = text.trim().parse()?;
        Ok((tip != self.base).then_some(tip))
    }
}

/// What fails with a signature is the signer, whatever git makes of its words, unless the disk is full.
fn of_signer(error: GitError) -> GitError {
    match error {
        GitError::Failed { stderr, .. } if !stderr.contains("No space left") => {
            GitError::SigningFailed { detail: stderr }
        }
        other => other,
    }
}
