//! A commit of a git repository, read through the program `git`. The repository is not trusted: what is asked of git runs nothing that its
//! configuration names (no hook, no filter, no file system monitor, no pager) and fetches nothing.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::disk::{self, Unreadable};
use crate::tree::{Tree, is_source};

/// The files of a commit, under the paths that they have in the work tree.
pub(crate) struct Commit {
    root: PathBuf,
    /// All of its hash.
    pub(crate) id: String,
    files: BTreeMap<PathBuf, Blob>,
    objects: Mutex<Objects>,
}

/// What a path holds.
struct Blob {
    id: String,
    bytes: u64,
    is_link: bool,
}

impl Commit {
    /// The commit that a name refers to in the repository at `root`: a branch, a tag, a hash. The error is a sentence for the user.
    pub(crate) fn open(root: &Path, name: &str) -> Result<Commit, String> {
        let git = Git::find(root)?;
        let id =
            git.output(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])?;
        let Some(id) = id else {
            return Err(format!("`{name}` is neither a commit of {} nor a file", root.display()));
        };
        let id = id.trim().to_owned();
        let listing = git.output(&["ls-tree", "-r", "-l", "-z", "--full-tree", &id])?;
        let listing = listing.ok_or_else(|| format!("git cannot list the files of {id}"))?;
        let files = listing.split('\0').filter_map(|line| entry(root, line)).collect();
        let objects = Mutex::new(git.objects().map_err(|error| format!("git: {}", disk::why(&error)))?);
        Ok(Commit { root: root.to_owned(), id, files, objects })
    }

    /// The file at a path, through links to other files of the commit.
    fn blob(&self, path: &Path) -> Result<&Blob, Unreadable> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let blob = self.files.get(&path).ok_or_else(missing)?;
            if !blob.is_link {
                return Ok(blob);
            }
            let target = self.text(blob)?;
            path = crate::tree::absolute(&path.parent().unwrap_or(&self.root).join(target));
            if !path.starts_with(&self.root) {
                return Err(Unreadable::Outside(path));
            }
        }
        Err(missing())
    }

    fn text(&self, blob: &Blob) -> Result<String, Unreadable> {
        if blob.bytes > disk::MOST_BYTES {
            return Err(Unreadable::TooLarge(disk::MOST_BYTES));
        }
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = objects.read(&blob.id)?;
        String::from_utf8(bytes).map_err(|error| Unreadable::NotText(error.utf8_error().valid_up_to()))
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there are files below a folder.
    pub(crate) fn has_folder(&self, folder: &Path) -> bool {
        self.below(folder).next().is_some()
    }

    fn below(&self, folder: &Path) -> impl Iterator<Item = &Path> {
        let folder = folder.to_owned();
        let from = self.files.range(folder.clone()..).map(|(path, _)| path.as_path());
        from.take_while(move |path| path.starts_with(&folder))
    }
}

impl Tree for Commit {
    fn read_within(&self, root: &Path, path: &Path) -> Result<String, Unreadable> {
        if !path.starts_with(root) {
            return Err(Unreadable::Outside(path.to_owned()));
        }
        self.text(self.blob(path)?)
    }

    /// As in the work tree, where hidden files are not looked at.
    fn source_files<'a>(&'a self, folder: &Path) -> Box<dyn Iterator<Item = PathBuf> + 'a> {
        let below = folder.to_owned();
        let is_hidden = move |path: &Path| {
            let inside = path.strip_prefix(&below).unwrap_or(path);
            inside
                .components()
                .any(|it| matches!(it, Component::Normal(name) if name.as_encoded_bytes().starts_with(b".")))
        };
        let files = self.below(folder).filter(|path| is_source(path)).filter(move |path| !is_hidden(path));
        Box::new(files.map(Path::to_owned).collect::<Vec<_>>().into_iter())
    }

    fn entries(&self, folder: &Path) -> Vec<PathBuf> {
        self.below(folder).filter(|path| path.parent() == Some(folder)).map(Path::to_owned).collect()
    }

    fn is_repository(&self, folder: &Path) -> bool {
        folder == self.root
    }
}

/// Longer chains of links are loops.
const MOST_LINKS: usize = 8;

fn missing() -> Unreadable {
    Unreadable::Disk(io::ErrorKind::NotFound.into())
}

/// A line of `git ls-tree -l`: mode, kind, hash, size, and after a tab the path.
fn entry(root: &Path, line: &str) -> Option<(PathBuf, Blob)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split_whitespace();
    let (mode, kind, id, bytes) = (words.next()?, words.next()?, words.next()?, words.next()?);
    // A submodule is a commit of another repository.
    if kind != "blob" {
        return None;
    }
    let blob = Blob { id: id.to_owned(), bytes: bytes.parse().ok()?, is_link: mode == "120000" };
    Some((root.join(path), blob))
}

/// The program, and the repository that it is asked about.
struct Git<'r> {
    program: PathBuf,
    root: &'r Path,
}

impl<'r> Git<'r> {
    fn find(root: &'r Path) -> Result<Git<'r>, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        // An entry that is no absolute path is one of the current directory, which may be anybody's.
        let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
        let name = format!("git{}", env::consts::EXE_SUFFIX);
        let program = folders.map(|folder| folder.join(&name)).find(|program| program.is_file());
        let program = program.ok_or("`git` is not installed, or not on the path; a file that `tilefit plan --format json` wrote of before takes its place")?;
        Ok(Git { program, root })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // What the caller's environment says of another repository, or of programs to run, does not count.
        let set_by_caller = env::vars_os().map(|(name, _)| name);
        for name in set_by_caller.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_")) {
            command.env_remove(name);
        }
        command.env("GIT_NO_LAZY_FETCH", "1"); // of a partial clone: nothing is downloaded
        command.env("GIT_ALLOW_PROTOCOL", "none"); // the same for git before 2.45
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("LC_ALL", "C");
        command.arg("-C").arg(self.root);
        // A repository can bring its own configuration; these are what of it names programs, or another place to look at.
        for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.bareRepository=explicit"] {
            command.args(["-c", setting]);
        }
        command.args(["--no-pager", "--literal-pathspecs"]).stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// What git prints; `None` where it says no. The error is a sentence for the user.
    fn output(&self, arguments: &[&str]) -> Result<Option<String>, String> {
        let output = self.command().args(arguments).output().map_err(|error| format!("git: {}", disk::why(&error)))?;
        let said = String::from_utf8_lossy(&output.stderr);
        match (output.status.success(), said.trim()) {
            (true, _) => Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned())),
            (false, "") => Ok(None),
            (false, said) => Err(format!("git: {}", said.strip_prefix("fatal: ").unwrap_or(said))),
        }
    }

    /// A process that is asked for one object after another.
    fn objects(&self) -> io::Result<Objects> {
        let mut command = self.command();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(ask), Some(answers)) => Ok(Objects { process, ask, answers: BufReader::new(answers) }),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

struct Objects {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    fn read(&mut self, id: &str) -> io::Result<Vec<u8>> {
        writeln!(self.ask, "{id}")?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let bytes = head.split_whitespace().nth(2).and_then(|bytes| bytes.parse().ok());
        let Some(bytes) = bytes.filter(|&bytes: &u64| bytes <= disk::MOST_BYTES) else {
            return Err(io::Error::other("this clone does not have its text"));
        };
        let mut text = vec![0; bytes as usize];
        self.answers.read_exact(&mut text)?;
        self.answers.read_exact(&mut [0])?; // the end of the line
        Ok(text)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}
