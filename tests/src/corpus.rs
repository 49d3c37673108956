//! The Python files that tests make other texts of.

use std::env;
use std::path::{Path, PathBuf};

/// The files below the folder that `TILEFIT_CORPUS` names, else the kernels of this repository, in sorted order.
pub fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = match env::var_os("TILEFIT_CORPUS") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => vec![root.join("../docs/examples"), root.join("conformance")],
    };
    let mut files = Vec::new();
    folders.iter().for_each(|folder| collect(folder, &mut files));
    files.sort();
    files
}

/// Adds a file, or the Python files below a folder.
pub fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let inner = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder || inner.extension().is_some_and(|extension| extension == "py") {
            collect(&inner, files);
        }
    }
}
