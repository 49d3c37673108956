//! The one door to the disk. What lies in a repository is not trusted: a file may be a link that leads out of it, a device
//! without an end, a pipe that nothing ever comes out of.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use etcetera::{BaseStrategy as _, choose_base_strategy};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tempfile::TempDir;

/// No kernel, module, dump or file of settings written by hand comes near this.
pub(crate) const MOST_BYTES: u64 = 4 << 20;

/// Of a file that the user named: lists of buffers and findings are long.
const MOST_NAMED_BYTES: u64 = 64 << 20;

/// Why a file was not read, in words that follow its path.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Disk(io::Error),
    /// A link to there.
    Outside(PathBuf),
    NotRegular,
    TooLarge(u64),
    /// The first byte that is no text.
    NotText(usize),
}

impl Unreadable {
    pub(crate) fn is_missing(&self) -> bool {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        let is_missing = |error: &io::Error| matches!(error.kind(), NotFound | NotADirectory | IsADirectory);
        matches!(self, Unreadable::Disk(error) if is_missing(error))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Disk(error) => f.write_str(&why(error)),
            Unreadable::Outside(real) => write!(f, "a link that leads out of the workspace, to {}", real.display()),
            Unreadable::NotRegular => write!(f, "not a regular file"),
            Unreadable::TooLarge(most) => write!(f, "larger than {} MiB", most >> 20),
            Unreadable::NotText(at) => write!(f, "not UTF-8 text: byte {at} cannot be read; save the file as UTF-8"),
        }
    }
}

/// What an error of the system says to people: its number tells them nothing.
pub(crate) fn why(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    text.split_once(" (os error ").map_or(text.as_str(), |(words, _)| words).to_owned()
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Unreadable::Disk(error)
    }
}

/// The text of a file that the user named, wherever it lies.
pub(crate) fn read_named(path: &Path) -> Result<String, Unreadable> {
    read(path, MOST_NAMED_BYTES)
}

/// The text of a file that the workspace at `root` holds.
pub(crate) fn read_within(root: &Path, path: &Path) -> Result<String, Unreadable> {
    stay_within(root, path)?;
    read(path, MOST_BYTES)
}

/// Refuses a path that leads out of `root` once its links are followed.
pub(crate) fn stay_within(root: &Path, path: &Path) -> Result<(), Unreadable> {
    let (root, real) = (fs::canonicalize(root)?, fs::canonicalize(path)?);
    if real.starts_with(root) { Ok(()) } else { Err(Unreadable::Outside(real)) }
}

fn read(path: &Path, most: u64) -> Result<String, Unreadable> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Unreadable::Disk(io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(Unreadable::NotRegular);
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Unreadable::TooLarge(most));
    }
    String::from_utf8(bytes).map_err(|error| Unreadable::NotText(error.utf8_error().valid_up_to()))
}

/// Does not wait for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Gives a file that the user named another text, all at once: whoever reads it sees the old one or the new one. A link stays, and what it
/// leads to changes.
/// The error is in words that follow the path.
pub(crate) fn write_named(path: &Path, text: &str) -> Result<(), String> {
    write_through_links(path, text).map_err(|error| why(&error))
}

fn write_through_links(path: &Path, text: &str) -> io::Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&real) {
        Ok(old) if old.is_file() => replace(&real, text, Some(old.permissions())),
        // A device, such as the terminal.
        Ok(_) => fs::OpenOptions::new().write(true).open(&real)?.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&real, text, None),
        Err(error) => Err(error),
    }
}

/// Makes files in a folder that the user named, whose names come from a repository: each is one safe component of a path, and none
/// replaces another. A link that waits there is replaced, not followed.
pub(crate) struct NewFiles<'a> {
    folder: &'a Path,
    /// In lower case, for file systems that do not tell.
    taken: HashSet<String>,
}

impl<'a> NewFiles<'a> {
    pub(crate) fn new(folder: &'a Path) -> io::Result<NewFiles<'a>> {
        fs::create_dir_all(folder)?;
        Ok(NewFiles { folder, taken: HashSet::new() })
    }

    pub(crate) fn write(&mut self, stem: &str, extension: &str, text: &str) -> io::Result<()> {
        let stem = component(stem);
        let named = |count: usize| if count == 1 { stem.clone() } else { format!("{stem}-{count}") };
        let free = (1..).map(named).find(|name| self.taken.insert(name.to_lowercase()));
        let path = self.folder.join(format!("{}.{extension}", free.unwrap_or_default()));
        replace(&path, text, None)
    }
}

/// A name as one component of a path, on every system: letters, digits, `_`, `-` and inner dots stay, the rest is percent-encoded.
pub(crate) fn component(name: &str) -> String {
    const KEPT: AsciiSet = NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.');
    let encoded = utf8_percent_encode(name, &KEPT).to_string();
    // Names of files have a limit; the end of a name says most.
    let end = &encoded[encoded.len().saturating_sub(LONGEST_NAME)..];
    match end.strip_prefix('.') {
        Some(rest) => format!("%2E{rest}"),
        None if end.is_empty() => "unnamed".to_owned(),
        None => end.to_owned(),
    }
}

/// Below the 255 bytes of most file systems, with an extension and a number.
const LONGEST_NAME: usize = 200;

/// Puts a new file into the place of whatever is at `path`.
fn replace(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // what the user's mask leaves of it
    let mut new = builder.prefix(".tilefit-").tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        fs::set_permissions(new.path(), permissions)?;
    }
    new.persist(path)?;
    Ok(())
}

/// A folder of this process in the system's temporary one: nobody can guess its name, other users cannot read it, and it goes with the value.
pub(crate) struct PrivateFolder(TempDir);

/// Those that there are. A process that ends while threads still run drops no value of theirs.
static PRIVATE_FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn private_folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PRIVATE_FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before the process ends.
pub(crate) fn remove_private_folders() {
    for folder in std::mem::take(&mut *private_folders()) {
        let _ = fs::remove_dir_all(folder); // what is left is in a temporary folder
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        private_folders().remove(self.path());
    }
}

impl PrivateFolder {
    pub(crate) fn new() -> io::Result<PrivateFolder> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix("tilefit-").tempdir()?;
        private_folders().insert(folder.path().to_owned());
        Ok(PrivateFolder(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.0.path().join(component(name)), text)
    }

    /// A path in it for a file of a folder.
    pub(crate) fn file(&self, folder: &str, name: &str, extension: &str) -> PathBuf {
        self.0.path().join(component(folder)).join(format!("{}.{extension}", component(name)))
    }
}

/// Puts a read-only file with this text into the place of the one that is there.
pub(crate) fn write_read_only(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    replace(path, text, None)?;
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}

/// Files of the user's cache directory. Several processes may use it at once.
pub(crate) struct CacheFolder(PathBuf);

impl CacheFolder {
    /// `None` where the user has no place for caches.
    pub(crate) fn of_user(name: &str) -> Option<CacheFolder> {
        Some(CacheFolder(choose_base_strategy().ok()?.cache_dir().join("tilefit").join(name)))
    }

    #[cfg(test)]
    pub(crate) fn at(folder: PathBuf) -> CacheFolder {
        CacheFolder(folder)
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        read(&self.0.join(component(name)), MOST_NAMED_BYTES).ok()
    }

    /// A file all at once; the oldest ones go where all have more bytes than `most`.
    pub(crate) fn write(&self, name: &str, text: &str, most: u64) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        replace(&self.0.join(component(name)), text, None)?;
        self.make_room(most);
        Ok(())
    }

    /// Another process may do the same: what is gone already is no failure.
    fn make_room(&self, most: u64) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        let entries = entries.flatten().filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        });
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = entries.collect();
        entries.sort();
        let mut all: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in entries {
            if all <= most {
                break;
            }
            remove(&path);
            all -= bytes;
        }
    }
}

/// When a file or folder was changed last.
pub(crate) fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Takes away a file that was written here.
pub(crate) fn remove(path: &Path) {
    let _ = fs::remove_file(path); // another may have been faster
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_component() {
        assert_eq!(component("Gate.gate-1_a"), "Gate.gate-1_a");
        assert_eq!(component("../../x"), "%2E.%2F..%2Fx");
        assert_eq!(component(""), "unnamed");
        let long = component(&format!("a{}", ".".repeat(2 * LONGEST_NAME)));
        assert!(long.starts_with("%2E.") && long.len() < LONGEST_NAME + 10, "{long}");
    }

    #[test]
    fn below_a_file_there_is_nothing_and_a_folder_is_no_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for path in ["Cargo.toml/inside.py", "src"] {
            let read = read_within(root, &root.join(path));
            assert!(read.as_ref().is_err_and(Unreadable::is_missing), "{read:?}");
        }
    }
}
