//! Which Python runs the compiler: found as Python's own tools find it.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The setting, the active virtual environment, that of the workspace, the first on the path. The error is a sentence for the user.
pub(crate) fn find(setting: Option<&str>, root: Option<&Path>) -> Result<PathBuf, String> {
    let variable = env::var_os("VIRTUAL_ENV");
    let path = env::var_os("PATH").unwrap_or_default();
    find_in(setting, variable.as_deref().map(Path::new), root, &path)
}

fn find_in(setting: Option<&str>, active: Option<&Path>, root: Option<&Path>, path: &OsStr) -> Result<PathBuf, String> {
    if let Some(setting) = setting {
        let given = root.map_or_else(|| PathBuf::from(setting), |root| root.join(setting));
        // A name without a folder is one of the path.
        let named = (!setting.contains(['/', '\\'])).then(|| on_path(&[setting], path)).flatten();
        return named
            .or_else(|| given.is_file().then(|| given.clone()))
            .or_else(|| of_environment(&given))
            .ok_or_else(|| format!("the setting `python` names {}, where there is no Python", given.display()));
    }
    let of_root = || root.and_then(|root| of_environment(&root.join(".venv")));
    active
        .and_then(of_environment)
        .or_else(of_root)
        .or_else(|| on_path(&["python3", "python"], path))
        .ok_or_else(|| "no Python found; activate its environment, or set `python`".to_owned())
}

/// The interpreter of a virtual environment.
fn of_environment(folder: &Path) -> Option<PathBuf> {
    ["bin/python3", "bin/python", "Scripts/python.exe"].iter().map(|name| folder.join(name)).find(|it| it.is_file())
}

fn on_path(names: &[&str], path: &OsStr) -> Option<PathBuf> {
    // An entry that is no absolute path is one of the current directory, which may be anybody's.
    let folders: Vec<PathBuf> = env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
    let suffix = env::consts::EXE_SUFFIX;
    let candidates =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(format!("{name}{suffix}"))));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn with(files: &[&str]) -> TempDir {
        let folder = TempDir::new().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        folder
    }

    #[test]
    fn the_setting_speaks_first_then_what_is_active_then_the_workspace_then_the_path() {
        let folder =
            with(&["own/python", "active/bin/python3", "root/.venv/bin/python", "bin/python3", "bin/python3.12"]);
        let at = |name: &str| folder.path().join(name);
        let path = at("bin").into_os_string();
        let find =
            |setting: Option<&str>, active: Option<&Path>, root: Option<&Path>| find_in(setting, active, root, &path);
        let (active, root) = (at("active"), at("root"));
        assert_eq!(find(Some("../own/python"), Some(&active), Some(&root)), Ok(root.join("../own/python")));
        assert_eq!(find(Some("../active"), None, Some(&root)), Ok(root.join("../active/bin/python3")));
        assert_eq!(find(Some("python3.12"), None, Some(&root)), Ok(at("bin/python3.12")));
        assert_eq!(find(None, Some(&active), Some(&root)), Ok(at("active/bin/python3")));
        assert_eq!(find(None, None, Some(&root)), Ok(at("root/.venv/bin/python")));
        assert_eq!(find(None, None, None), Ok(at("bin/python3")));
        assert!(find(Some("nowhere/python"), Some(&active), None).is_err_and(|why| why.contains("nowhere/python")));
        assert!(find_in(None, None, None, OsStr::new("bin")).is_err());
    }
}
