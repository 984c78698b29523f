//! The outline of a work tree: a repository with its last commit and the names of its files, without their content and
//! without earlier commits. Programs that ask git for the commit or for the files get the answer from it.

use super::call::{GitContext, git};
use super::{GitError, WorkTree, error};
use std::fs;
use std::path::Path;

impl WorkTree {
    /// Writes the outline to a new folder. It shares nothing with the user's repository.
    pub fn write_outline(&self, folder: &Path) -> Result<(), GitError> {
        let objects = self.repository.objects();
        let commit = git(&self.public_context(), ["rev-parse", "HEAD"]).line()?;
        let format = git(&objects, ["rev-parse", "--show-object-format"]).line()?;
        let words = ["init", "--quiet", "--bare", "--template=", "--object-format", &format];
        git(&objects, words.iter().map(AsRef::as_ref).chain([folder.as_os_str()])).run()?;
        let write = |name: &str, text: String| {
            let file = folder.join(name);
            fs::write(&file, text).map_err(error::file("write", &file))
        };
        write("shallow", format!("{commit}\n"))?;
        write("HEAD", format!("{commit}\n"))?;
        let outline = GitContext::objects(folder).without_sync();
        git(&outline, ["config", "core.bare", "false"]).run()?;
        let words = ["rev-list", "--objects", "--no-walk", "--filter=blob:none", &commit];
        let names = git(&objects, words).run()?;
        let pack = git(&objects, ["pack-objects", "--quiet", "--stdout"]).input(names).run()?;
        git(&outline, ["index-pack", "--stdin"]).input(pack).run()?;
        let index = folder.join("index");
        if self.private("index").exists() {
            // With the file times of the engine's index, git need not read every file again.
            self.copy_index(&index)?;
        }
        git(&self.public_context().with_index(&index), ["read-tree", "--reset", &commit]).run().map(drop)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

    use crate::testbed::{Testbed, git_in, put};
    use std::fs;

    // UP-02
    #[test]
    fn an_outline_names_commit_and_files_and_holds_no_content_and_no_history() {
        let bed = Testbed::new();
        bed.write("folder/a.txt", "content\n");
        bed.commit("first");
        let first = bed.git(&["rev-parse", "HEAD"]);
        bed.write("b.txt", "b\n");
        bed.commit("second");
        let run = bed.run("r1");
        let tree = run.main_tree();
        let outline = bed.runs().join("outline");
        tree.write_outline(&outline).unwrap();
        let ask = |words: &[&str]| {
            let at = [
                format!("--git-dir={}", outline.display()),
                format!("--work-tree={}", tree.path().display()),
            ];
            let words: Vec<&str> = at.iter().map(String::as_str).chain(words.iter().copied()).collect();
            git_in(tree.path(), &words)
        };
        let head = bed.git(&["rev-parse", "HEAD"]);
        assert_eq!(ask(&["rev-parse", "HEAD"]).trim(), head.trim());
        assert_eq!(ask(&["log", "--format=%s"]).trim(), "second");
        assert_eq!(ask(&["status", "--porcelain"]), "");
        assert!(ask(&["ls-files"]).contains("folder/a.txt"));
        put(tree.path(), "b.txt", b"changed\n");
        assert_eq!(ask(&["status", "--porcelain"]).trim(), "M b.txt");
        let objects = ask(&["cat-file", "--batch-check", "--batch-all-objects"]);
        assert!(!objects.contains("blob") && !objects.contains(first.trim()), "{objects}");
        assert!(!fs::exists(outline.join("objects/info/alternates")).unwrap());
    }
}
