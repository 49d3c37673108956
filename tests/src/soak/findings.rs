//! What a soak found wrong, with all that shows it again.

use std::fs;
use std::path::Path;

pub(super) struct Finding {
    pub(super) kind: &'static str,
    pub(super) what: String,
    /// Names of files and what is in them.
    pub(super) texts: Vec<(String, Vec<u8>)>,
}

impl Finding {
    /// Writes the texts; returns their names.
    pub(super) fn write(&self, folder: &Path) -> Vec<String> {
        let write = |(name, text): &(String, Vec<u8>)| {
            let path = folder.join(name);
            let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
            written.map_or_else(|error| format!("{name} ({error})"), |()| path.display().to_string())
        };
        self.texts.iter().map(write).collect()
    }
}
