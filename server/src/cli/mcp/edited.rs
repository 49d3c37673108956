//! The disk as it would be after some edits, which nothing writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::disk::{self, Unreadable};
use crate::tree::{OnDisk, Tree};

pub(super) struct Edited {
    /// By absolute path.
    pub(super) texts: BTreeMap<PathBuf, String>,
}

impl Tree for Edited {
    fn read_within(&self, root: &Path, path: &Path) -> Result<String, Unreadable> {
        let Some(text) = self.texts.get(path) else { return OnDisk.read_within(root, path) };
        match disk::stay_within(root, path) {
            // A file that an edit makes.
            Err(error) if error.is_missing() => Ok(text.clone()),
            stays => stays.map(|()| text.clone()),
        }
    }

    fn source_files<'a>(&'a self, folder: &Path) -> Box<dyn Iterator<Item = PathBuf> + 'a> {
        let made = self.texts.keys().filter(|path| !path.exists()).cloned().collect::<Vec<_>>();
        let within = folder.to_owned();
        Box::new(OnDisk.source_files(folder).chain(made.into_iter().filter(move |path| path.starts_with(&within))))
    }

    fn entries(&self, folder: &Path) -> Vec<PathBuf> {
        let made = self.texts.keys().filter(|path| !path.exists() && path.parent() == Some(folder)).cloned();
        OnDisk.entries(folder).into_iter().chain(made).collect()
    }

    fn is_repository(&self, folder: &Path) -> bool {
        OnDisk.is_repository(folder)
    }
}
