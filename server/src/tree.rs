//! Where the files of a project are read from: the disk as it is now, or a commit.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use crate::disk::{self, Unreadable};
use crate::notebook::is_notebook;

pub(crate) trait Tree: Sync {
    /// The text of a file that the folder `root` holds.
    fn read_within(&self, root: &Path, path: &Path) -> Result<String, Unreadable>;

    /// The Python files and notebooks below a folder, in the order of their paths, without those that git ignores.
    fn source_files<'a>(&'a self, folder: &Path) -> Box<dyn Iterator<Item = PathBuf> + 'a>;

    /// What lies in a folder itself, in the order of the names.
    fn entries(&self, folder: &Path) -> Vec<PathBuf>;

    /// Whether a folder is the root of a repository: what lies above has no say in it.
    fn is_repository(&self, folder: &Path) -> bool;
}

/// Everything as it is on disk.
pub(crate) struct OnDisk;

/// What the root of a repository has. In a work tree or a submodule of git it is a file.
const MARKERS: [&str; 3] = [".git", ".hg", ".jj"];

impl Tree for OnDisk {
    fn read_within(&self, root: &Path, path: &Path) -> Result<String, Unreadable> {
        disk::read_within(root, path)
    }

    fn source_files<'a>(&'a self, folder: &Path) -> Box<dyn Iterator<Item = PathBuf> + 'a> {
        let entries = WalkBuilder::new(folder).sort_by_file_path(Path::cmp).build().filter_map(Result::ok);
        Box::new(entries.map(ignore::DirEntry::into_path).filter(|path| is_source(path)))
    }

    fn entries(&self, folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        paths
    }

    fn is_repository(&self, folder: &Path) -> bool {
        MARKERS.iter().any(|marker| folder.join(marker).exists())
    }
}

pub(crate) fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py")
}

/// Whether kernels are looked for in a file.
pub(crate) fn is_source(path: &Path) -> bool {
    is_python(path) || is_notebook(path)
}

/// The root of the repository that a folder is in.
pub(crate) fn repository_of(tree: &dyn Tree, folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| tree.is_repository(folder)).map(Path::to_owned)
}

/// A path from the root of the file system, without `.` and `..`: what lies above it is what its text says, whatever links it goes through.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            component => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_path_leads_back() {
        assert_eq!(absolute(Path::new("/a/b/../c/./d.py")), Path::new("/a/c/d.py"));
        assert_eq!(absolute(Path::new("/../a")), Path::new("/a"));
        assert!(absolute(Path::new("a.py")).is_absolute());
    }
}
