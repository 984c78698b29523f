//! Puts a work tree back to an exact state. Ignored files stay: they are caches, and no part of any state.

use super::call::{fields, git, listed, path};
use super::overlay::Overlay;
use super::remove::{clear_way, open_up, prune_empty, remove, remove_inside, remove_with_empty_parents};
use super::{GitError, TreeId, WorkTree, error};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

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
        self.check_out(to)?;
        self.remove_others()?;
        self.lay_over(&self.overlaid(&wanted)?)?;
        self.note_overlay(&wanted)?;
        self.empty_submodules()?;
        self.point_head()?;
        self.publish_index()
    }

    /// Puts single files back to what they are in a state, and leaves all others.
    pub fn undo_paths(&self, before: &TreeId, paths: &[PathBuf]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let _memory = self.memory();
        self.mend()?;
        if !self.private("index").exists() || self.overlay() == Overlay::Unsure {
            remove(&self.private("index"))?;
            git(&self.place(), ["read-tree", before.tree()]).run()?;
        }
        let overlay = self.overlay();
        self.note_overlay(&Overlay::Unsure)?;
        let wanted: BTreeSet<&[u8]> = paths.iter().map(|path| path.as_os_str().as_bytes()).collect();
        let output = git(&self.repository.objects(), ["ls-tree", "-r", "-z", before.tree()]).run()?;
        let (mut rows, mut present) = (Vec::new(), BTreeSet::new());
        for row in fields(&output) {
            let Some(tab) = row.iter().position(|byte| *byte == b'\t') else { continue };
            if wanted.contains(&row[tab + 1..]) {
                rows.extend_from_slice(row);
                rows.push(0);
                present.insert(path(&row[tab + 1..]));
            }
        }
        let absent: Vec<&PathBuf> = paths.iter().filter(|path| !present.contains(*path)).collect();
        for path in &absent {
            remove_with_empty_parents(self.path(), path)?;
        }
        let rows = absent.iter().flat_map(|path| self.absent_row(path)).chain(rows).collect();
        git(&self.place(), ["update-index", "-z", "--index-info"]).input(rows).run()?;
        for path in &present {
            clear_way(self.path(), path)?;
            remove(&self.path().join(path))?;
        }
        let words = ["checkout-index", "-f", "-u", "-z", "--stdin"];
        let input = listed(present.iter().map(PathBuf::as_path));
        git(&self.place(), words).with_attributes_of(before.tree()).input(input).run()?;
        let mut raw = self.overlaid(&overlay)?;
        raw.retain(|path, _| !wanted.contains(path.as_os_str().as_bytes()));
        let mut back =
            self.overlaid(&before.raw().map_or(Overlay::None, |raw| Overlay::Some(raw.to_string())))?;
        back.retain(|path, _| present.contains(path));
        self.lay_over(&back)?;
        raw.extend(back);
        self.note_overlay(&self.overlay_of(&raw)?)
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

    /// Submodules are not populated, and what was put into their folders is part of no state.
    fn empty_submodules(&self) -> Result<(), GitError> {
        if !self.path().join(".gitmodules").exists() {
            return Ok(());
        }
        let output = git(&self.place(), ["ls-files", "--stage", "-z"]).run()?;
        for row in fields(&output).filter(|row| row.starts_with(b"160000 ")) {
            let Some(tab) = row.iter().position(|byte| *byte == b'\t') else { continue };
            let inside = path(&row[tab + 1..]);
            let folder = self.path().join(&inside);
            clear_way(self.path(), &inside)?;
            remove(&folder)?;
            fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
        }
        Ok(())
    }

    /// Gives git itself the index of this state. It keeps its time, since git judges by it how far to trust the files'.
    pub(super) fn publish_index(&self) -> Result<(), GitError> {
        let (ours, theirs) = (self.private("index"), self.admin().join("index"));
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
