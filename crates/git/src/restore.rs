//! Restores a work tree to an exact state. Ignored files stay, since they are caches and not part of a state.

use super::call::git;
use super::invocation::{fields, path};
use super::overlay::Overlay;
use super::remove::{make_accessible, prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::{GitError, TreeId, WorkTree, error};
use std::fs;
use std::path::Path;

impl WorkTree {
    /// Restores the files to a state.
    pub fn restore(&self, to: &TreeId) -> Result<(), GitError> {
        let mut cache = self.cache();
        self.attach()?;
        self.discard_excess(&mut cache)?;
        let now = self.overlay();
        let target = to.raw().map_or(Overlay::None, |raw| Overlay::Some(raw.to_string()));
        self.prepare_index(to, &now)?;
        if (&now, &target) != (&Overlay::None, &Overlay::None) {
            for file in self.overlay_files(&now)?.keys() {
                remove_inside(self.path(), file)?;
            }
            self.record_overlay(&Overlay::Unknown)?;
        }
        self.empty_other_submodules(to)?;
        self.check_out(to)?;
        self.remove_others()?;
        self.write_overlay(&self.overlay_files(&target)?)?;
        self.record_overlay(&target)?;
        if self.has_submodules() {
            self.fill_submodules(to)?;
        }
        self.detach_head()?;
        self.publish_index()
    }

    /// Prepares the index. If attributes differ between the states, files can differ although their blobs are the same. Then
    /// the index is removed, so all files are written. Otherwise, files that the state does not contain are removed from the
    /// index, so the state's ignore rules decide about them.
    fn prepare_index(&self, to: &TreeId, overlay: &Overlay) -> Result<(), GitError> {
        let index = self.private("index");
        if *overlay == Overlay::Unknown || !index.exists() {
            return remove(&index);
        }
        let words = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", to.tree()];
        let output = git(&self.context(), words).run_unchecked()?;
        let (mut attributes_differ, mut surplus) = (output.code != 0, Vec::new());
        let mut parts = fields(&output.stdout);
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
        let read_tree = || git(&self.context(), words).with_attributes_of(to.tree()).run();
        match read_tree() {
            Ok(_) => Ok(()),
            Err(GitError::Failed { .. }) => {
                // Another git process may have interfered, a folder may be inaccessible, or the index may be broken.
                self.attach()?;
                make_accessible(self.path())?;
                remove(&self.private("index"))?;
                read_tree().map(drop)
            }
            Err(other) => Err(other),
        }
    }

    /// Removes files that are neither tracked nor ignored, and empty folders.
    fn remove_others(&self) -> Result<(), GitError> {
        let words = ["ls-files", "-z", "--others", "--directory", "--exclude-standard"];
        let before = git(&self.context(), words).run_unchecked()?;
        // Most trees contain nothing else, so this one call is enough. A folder that git cannot open causes a message.
        if before.code == 0 && before.stdout.is_empty() && before.stderr.is_empty() {
            return Ok(());
        }
        let others = self.untracked_files()?;
        for file in others.embedded.iter().chain(&others.files) {
            remove_with_empty_parents(self.path(), file)?;
        }
        let left = git(&self.context(), words).run()?;
        for folder in fields(&left).filter_map(|name| name.strip_suffix(b"/")).map(path) {
            prune_empty(&self.path().join(folder));
        }
        Ok(())
    }

    /// Copies the engine's index to git's index.
    pub(super) fn publish_index(&self) -> Result<(), GitError> {
        let (ours, theirs) = (self.private("index"), self.admin().join("index"));
        let bytes = fs::read(&ours).map_err(error::file("read", &ours))?;
        let empty_checksum = vec![0; self.base.as_str().len() / 2];
        if bytes.ends_with(&empty_checksum) {
            // Programs other than git may check the checksum.
            git(&self.context(), ["update-index", "--force-write-index"]).run()?;
        }
        self.copy_index(&theirs)
    }

    /// Copies the engine's index. The copy keeps its modification time, by which git decides which file times it can trust.
    pub(super) fn copy_index(&self, to: &Path) -> Result<(), GitError> {
        let (ours, temporary) = (self.private("index"), to.with_extension("new"));
        let copy = || {
            fs::copy(&ours, &temporary)?;
            let written = fs::metadata(&ours)?.modified()?;
            fs::File::options().write(true).open(&temporary)?.set_modified(written)?;
            fs::rename(&temporary, to)
        };
        copy().map_err(error::file("write", to))
    }
}
