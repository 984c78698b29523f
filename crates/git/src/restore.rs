//! Restores a work tree to an exact state. Ignored files stay: they are caches and not part of a state.

use super::call::git;
use super::invocation::{fields, path};
use super::overlay::Overlay;
use super::remove::{open_up, prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::{GitError, TreeId, WorkTree, error};
use std::fs;

impl WorkTree {
    /// Restores the files to a state.
    pub fn restore(&self, to: &TreeId) -> Result<(), GitError> {
        let _memory = self.cache();
        self.attach()?;
        let now = self.overlay();
        let wanted = to.raw().map_or(Overlay::None, |raw| Overlay::Some(raw.to_string()));
        self.prepare_index(to, &now)?;
        if (&now, &wanted) != (&Overlay::None, &Overlay::None) {
            for file in self.overlay_files(&now)?.keys() {
                remove_inside(self.path(), file)?;
            }
            self.record_overlay(&Overlay::Unsure)?;
        }
        self.empty_submodules_but(to)?;
        self.check_out(to)?;
        self.remove_others()?;
        self.write_overlay(&self.overlay_files(&wanted)?)?;
        self.record_overlay(&wanted)?;
        if self.has_submodules() {
            self.fill_submodules(to)?;
        }
        self.point_head()?;
        self.publish_index()
    }

    /// Prepares the index. If attributes differ between the states, files can differ although their blobs are the same, so
    /// the index is removed and all files are written. Files that the state does not contain leave the index, so that the
    /// state's own ignore rules decide about them.
    fn prepare_index(&self, to: &TreeId, overlay: &Overlay) -> Result<(), GitError> {
        let index = self.private("index");
        if *overlay == Overlay::Unsure || !index.exists() {
            return remove(&index);
        }
        let words = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", to.tree()];
        let answer = git(&self.context(), words).answer()?;
        let (mut attributes_differ, mut surplus) = (answer.code != 0, Vec::new());
        let mut parts = fields(&answer.stdout);
        while let (Some(status), Some(name)) = (parts.next(), parts.next()) {
            let file = path(name);
            if file.file_name().is_some_and(|name| name == ".gitattributes") {
                attributes_differ = true;
                remove_inside(self.path(), &file)?;
            }
            if status == b"A" {
                surplus.push(file);
            }
        }
        if attributes_differ { remove(&index) } else { self.drop_entries(&surplus) }
    }

    fn check_out(&self, to: &TreeId) -> Result<(), GitError> {
        let words = ["read-tree", "-u", "--reset", to.tree()];
        let once = || git(&self.context(), words).with_attributes_of(to.tree()).run();
        match once() {
            Ok(_) => Ok(()),
            Err(GitError::Failed { .. }) => {
                // Another git process may have interfered, a folder may be inaccessible, or the index may be broken.
                self.attach()?;
                open_up(self.path())?;
                remove(&self.private("index"))?;
                once().map(drop)
            }
            Err(other) => Err(other),
        }
    }

    /// Removes files that are neither tracked nor ignored, and empty folders.
    fn remove_others(&self) -> Result<(), GitError> {
        let others = self.untracked_files()?;
        for file in others.embedded.iter().chain(&others.files) {
            remove_with_empty_parents(self.path(), file)?;
        }
        let words = ["ls-files", "-z", "--others", "--directory", "--exclude-standard"];
        let output = git(&self.context(), words).run()?;
        for folder in fields(&output).filter_map(|name| name.strip_suffix(b"/")).map(path) {
            prune_empty(&self.path().join(folder));
        }
        Ok(())
    }

    /// Copies the engine's index to git's own index. Keeps its modification time, since git uses it to decide which file
    /// times it can trust.
    pub(super) fn publish_index(&self) -> Result<(), GitError> {
        let (ours, theirs) = (self.private("index"), self.admin().join("index"));
        let written = fs::read(&ours).map_err(error::file("read", &ours))?;
        let without_checksum = vec![0; self.base.as_str().len() / 2];
        if written.ends_with(&without_checksum) {
            // Programs other than git may check the checksum.
            git(&self.context(), ["update-index", "--force-write-index"]).run()?;
        }
        let temporary = self.admin().join("index.new");
        let copied = || {
            fs::copy(&ours, &temporary)?;
            let written = fs::metadata(&ours)?.modified()?;
            fs::File::options().write(true).open(&temporary)?.set_modified(written)?;
            fs::rename(&temporary, &theirs)
        };
        copied().map_err(error::file("write", &theirs))
    }
}
