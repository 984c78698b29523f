//! Puts a work tree back to an exact state. Ignored files stay: they are caches, and no part of any state.

use super::call::{fields, git, path};
use super::overlay::Overlay;
use super::remove::{open_up, prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::{GitError, TreeId, WorkTree, error};
use std::fs;

impl WorkTree {
    /// Puts the files back to a state, wherever they are now.
    pub fn restore(&self, to: &TreeId) -> Result<(), GitError> {
        let _memory = self.memory();
        self.mend()?;
        let now = self.overlay();
        let wanted = to.raw().map_or(Overlay::None, |raw| Overlay::Some(raw.to_string()));
        self.ready_index(to, &now)?;
        if (&now, &wanted) != (&Overlay::None, &Overlay::None) {
            for file in self.overlaid(&now)?.keys() {
                remove_inside(self.path(), file)?;
            }
            self.note_overlay(&Overlay::Unsure)?;
        }
        self.empty_submodules_but(to)?;
        self.check_out(to)?;
        self.remove_others()?;
        self.lay_over(&self.overlaid(&wanted)?)?;
        self.note_overlay(&wanted)?;
        if self.has_submodules() {
            self.fill_submodules(to)?;
        }
        self.point_head()?;
        self.publish_index()
    }

    /// Makes the index fit to start from. Where other attributes hold, files differ though their blobs are the same,
    /// so all are written. Files that the state does not have are left to the state's own rules of what is ignored.
    fn ready_index(&self, to: &TreeId, overlay: &Overlay) -> Result<(), GitError> {
        let index = self.private("index");
        if *overlay == Overlay::Unsure || !index.exists() {
            return remove(&index);
        }
        let words = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", to.tree()];
        let answer = git(&self.place(), words).answer()?;
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
        let once = || git(&self.place(), words).with_attributes_of(to.tree()).run();
        match once() {
            Ok(_) => Ok(()),
            Err(GitError::Failed { .. }) => {
                // A git that outlived a killed engine may have come first, a folder may be closed, the index broken.
                self.mend()?;
                open_up(self.path())?;
                remove(&self.private("index"))?;
                once().map(drop)
            }
            Err(other) => Err(other),
        }
    }

    /// Removes what is in no state: files that are neither tracked nor ignored, and empty folders.
    fn remove_others(&self) -> Result<(), GitError> {
        let others = self.others()?;
        for file in others.embedded.iter().chain(&others.files) {
            remove_with_empty_parents(self.path(), file)?;
        }
        let words = ["ls-files", "-z", "--others", "--directory", "--exclude-standard"];
        let output = git(&self.place(), words).run()?;
        for folder in fields(&output).filter_map(|name| name.strip_suffix(b"/")).map(path) {
            prune_empty(&self.path().join(folder));
        }
        Ok(())
    }

    /// Gives git itself the index of this state. It keeps its time, since git judges by it how far to trust the files'.
    pub(super) fn publish_index(&self) -> Result<(), GitError> {
        let (ours, theirs) = (self.private("index"), self.admin().join("index"));
        let written = fs::read(&ours).map_err(error::file("read", &ours))?;
        let without_checksum = vec![0; self.base.as_str().len() / 2];
        if written.ends_with(&without_checksum) {
            // Other programs than git look at it.
            git(&self.place(), ["update-index", "--force-write-index"]).run()?;
        }
        let aside = self.admin().join("index.new");
        let copied = || {
            fs::copy(&ours, &aside)?;
            let written = fs::metadata(&ours)?.modified()?;
            fs::File::options().write(true).open(&aside)?.set_modified(written)?;
            fs::rename(&aside, &theirs)
        };
        copied().map_err(error::file("write", &theirs))
    }
}
