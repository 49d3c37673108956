//! The compiler's dumps of a kernel file: `passes_dump/NN_after_AllocateMemoryAddr.py` in the folders where a compilation leaves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::disk;

/// The pass after which tiles have their addresses; the number before it differs between versions.
const ALLOCATED: &str = "_after_AllocateMemoryAddr.py";

/// Every compilation adds a folder to `build_output`; only the newest dumps are read.
const MOST_DUMPS: usize = 32;

/// Whether a path is one of a dump that is read.
pub(crate) fn is_dump(path: &str) -> bool {
    path.ends_with(ALLOCATED)
}

/// Path and text of the dumps that may show what became of the file at `path`, newest first. Nothing outside of `root` is read.
pub(crate) fn find(path: &Path, text: &str, root: &Path) -> Vec<(String, String)> {
    let Some(folder) = path.parent().filter(|folder| folder.starts_with(root)) else { return Vec::new() };
    if !text.contains("pypto") {
        return Vec::new();
    }
    let mut found: Vec<(SystemTime, PathBuf)> =
        folders(folder, root).iter().filter_map(|folder| allocated(&folder.join("passes_dump"))).collect();
    found.sort_by(|a, b| b.cmp(a));
    found.dedup();
    let read = |(_, path): (SystemTime, PathBuf)| Some((path.to_string_lossy().into_owned(), read(&path, root, text)?));
    found.into_iter().take(MOST_DUMPS).filter_map(read).collect()
}

/// Where a compilation that was started beside the file, or at the workspace's root, may have put its output.
fn folders(folder: &Path, root: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    all.extend(inside(folder));
    all.extend(inside(&folder.join("build_output")));
    all.extend(inside(&root.join("build_output")));
    all
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// The dump in a folder of dumps, and when it was written.
fn allocated(folder: &Path) -> Option<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let named = entries.filter(|entry| is_dump(&entry.file_name().to_string_lossy()));
    let path = named.map(|entry| entry.path()).max()?;
    let metadata = fs::metadata(&path).ok().filter(|metadata| metadata.is_file())?;
    Some((metadata.modified().ok()?, path))
}

/// The text of a dump, if the program that it says it is of is named in `source`.
fn read(path: &Path, root: &Path, source: &str) -> Option<String> {
    let dump = disk::read_within(root, path).ok()?;
    let program = dump.lines().next().unwrap_or_default().strip_prefix("# pypto.program:");
    program.is_none_or(|program| source.contains(program.trim())).then_some(dump)
}
