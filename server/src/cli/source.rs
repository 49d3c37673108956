//! A file from disk under analysis.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tilefit_analysis::confirm::{Answered, KernelsAsked, UpTo};
use tilefit_analysis::ide::PlacedQuestion;
use tilefit_analysis::project::Config;
use tilefit_analysis::{Analysis, AnalysisHost, Cancellable, FileId};
use tilefit_pypto::memory::{OpenSearch, Patience};
use tilefit_syntax::{Document, LineCol, PositionEncoding};

use super::which::Kernels;
use super::workers;
use crate::confirm::{Confirmer, python, sha256};
use crate::imports::Imports;
use crate::notebook::{self, LinesOfCells, Notebook, in_cell, is_notebook};
use crate::terminal::complain;
use crate::tree::{OnDisk, Tree, absolute, repository_of};
use crate::{disk, dumps};

/// A file and everything that can be asked about it.
pub(super) struct Source {
    /// Of a notebook that of all cells.
    pub(super) text: String,
    pub(super) document: Document,
    /// Of a notebook.
    pub(super) lines: LinesOfCells,
    analysis: Analysis,
    file: FileId,
}

impl Source {
    /// The error is a sentence for the user.
    pub(super) fn read(path: &Path, config: &Config) -> Result<Source, String> {
        let paths = [path.to_owned()];
        Source::read_all(&paths, config).pop().unwrap_or_else(|| Err(format!("{} is not read", path.display())))
    }

    /// The same, with what the compiler says of its kernels.
    pub(super) fn read_and_confirm(path: &Path, config: &Config, asking: &mut Asking) -> Result<Source, String> {
        let paths = [path.to_owned()];
        let imports = &mut Imports::new(&OnDisk);
        let read = Source::read_all_and_confirm(&paths, config, Some(asking), imports).pop();
        read.unwrap_or_else(|| Err(format!("{} is not read", path.display())))
    }

    /// Files under one analysis, in their order: what several of them import is analysed once.
    pub(super) fn read_all(paths: &[PathBuf], config: &Config) -> Vec<Result<Source, String>> {
        Source::read_all_and_confirm(paths, config, None, &mut Imports::new(&OnDisk))
    }

    /// The same, with what the compiler says of their kernels.
    pub(super) fn read_all_and_confirm(
        paths: &[PathBuf],
        config: &Config,
        asking: Option<&mut Asking>,
        imports: &mut Imports<'_>,
    ) -> Vec<Result<Source, String>> {
        let mut host = AnalysisHost::new();
        host.set_config(config.clone());
        let read: Vec<_> = paths.iter().map(|path| Read::named(&mut host, path)).collect();
        let files: Vec<&Read> = read.iter().flatten().collect();
        load_imports(imports, &mut host, &files);
        for read in &files {
            read.find_dumps(&mut host);
        }
        search(&mut host, &files);
        if let Some(asking) = asking {
            files.iter().for_each(|read| asking.ask(&mut host, read));
        }
        read.into_iter().map(|read| read.map(|read| read.source(&host))).collect()
    }

    /// Files of a repository, with what they import from there. What compilations left beside them is not looked at.
    pub(super) fn read_all_of(
        imports: &mut Imports<'_>,
        repository: &Path,
        paths: &[PathBuf],
        config: &Config,
    ) -> Vec<Result<Source, String>> {
        let mut host = AnalysisHost::new();
        host.set_config(config.clone());
        let read: Vec<_> = paths.iter().map(|path| Read::within(&mut host, imports.tree(), repository, path)).collect();
        let files: Vec<&Read> = read.iter().flatten().collect();
        load_imports(imports, &mut host, &files);
        search(&mut host, &files);
        read.into_iter().map(|read| read.map(|read| read.source(&host))).collect()
    }

    /// Kernels that do not parse, in sentences for the user.
    pub(super) fn syntax_errors(&self, path: &str) -> Vec<String> {
        let errors = self.ask(|analysis, file| analysis.syntax_errors(file)).into_iter();
        let said = errors.map(|error| {
            let LineCol { line, col } = self.document.position(error.start, PositionEncoding::Utf32);
            let path = in_cell(path, self.cell(error.start));
            format!("{path}:{}:{}: syntax error: the kernel cannot be read", line + 1, col + 1)
        });
        said.collect()
    }

    /// The cell of a notebook that an offset is in, from 1.
    pub(super) fn cell(&self, offset: usize) -> Option<usize> {
        self.document.part_at(offset).map(|part| part + 1)
    }

    /// All files that were analysed with it, and itself.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.analysis.files().into_iter().map(|file| PathBuf::from(self.analysis.path(file))).collect()
    }

    /// The name and the text of another file that was analysed with it, if this one is called `own`.
    pub(super) fn other(&self, own: &str, file: FileId) -> (String, &Document) {
        let (path, mine) = (self.analysis.path(file), self.analysis.path(self.file));
        let root = mine.strip_suffix(own).unwrap_or_default();
        (path.strip_prefix(root).unwrap_or(path).to_owned(), self.analysis.document(file))
    }

    /// Asks for one feature. Nothing edits the file, so nothing cancels the query.
    pub(super) fn ask<T: Default>(&self, feature: impl FnOnce(&Analysis, FileId) -> Cancellable<T>) -> T {
        feature(&self.analysis, self.file).unwrap_or_default()
    }
}

/// Which Python has the compiler.
#[derive(clap::Args)]
pub(super) struct Python {
    /// The Python with the compiler, or its virtual environment; else the one that is active, `.venv`, the first on the path
    #[arg(long)]
    python: Option<String>,
}

impl Python {
    /// For the kernels that are named.
    pub(super) fn of(&self, config: &Config, kernels: &Kernels) -> Result<Asking, String> {
        let named = self.python.as_deref().or(config.python.as_deref());
        let python = python::find(named, env::current_dir().ok().as_deref())?;
        Ok(Asking {
            confirmer: Confirmer::new(python),
            of: KernelsAsked::InForce,
            up_to: UpTo::Plan,
            kernels: kernels.clone(),
        })
    }
}

/// Asks the compiler about the kernels of files.
pub(super) struct Asking {
    confirmer: Confirmer,
    of: KernelsAsked,
    up_to: UpTo,
    kernels: Kernels,
}

impl Asking {
    /// About all configurations, on all devices.
    pub(super) fn every_configuration(self) -> Asking {
        Asking { of: KernelsAsked::EveryConfiguration, ..self }
    }

    /// On to machine code, if that is wanted.
    pub(super) fn up_to_machine_code(self, is_wanted: bool) -> Asking {
        Asking { up_to: if is_wanted { UpTo::MachineCode } else { self.up_to }, ..self }
    }

    fn ask(&mut self, host: &mut AnalysisHost, read: &Read) {
        if is_notebook(&read.path) {
            return complain(&notebook::not_confirmed(&read.path));
        }
        // What fails here fails again where it is asked for, and is reported there.
        let questions = catch_unwind(AssertUnwindSafe(|| host.snapshot().all_questions(read.file, self.of)));
        let questions = questions.ok().and_then(Result::ok).unwrap_or_default();
        let about_kernels = questions.into_iter().filter(|it| self.kernels.include(&it.name));
        let (never, sha256) = (AtomicBool::new(false), sha256(read.text.as_bytes()));
        let answered = about_kernels.map(|PlacedQuestion { question, .. }| {
            let answer = self.confirmer.ask(&read.path, &sha256, (&question, self.up_to), &never);
            Answered { question, answer }
        });
        let answers = answered.collect();
        host.set_answers(read.file, answers);
    }
}

/// A file that was read, on its way to be a [`Source`].
struct Read {
    path: PathBuf,
    /// What may be read for it.
    root: PathBuf,
    text: String,
    document: Document,
    lines: LinesOfCells,
    file: FileId,
}

impl Read {
    /// One that the command line names.
    fn named(host: &mut AnalysisHost, path: &Path) -> Result<Read, String> {
        if path.is_dir() {
            let path = path.display();
            return Err(format!(
                "`{path}` is a directory, and this command takes one file. Did you mean `tilefit check {path}`?"
            ));
        }
        let text = disk::read_named(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let notebook = notebook_of(path, &text)?;
        let path = absolute(path);
        Ok(Read::new(host, workspace_of(&path), path, notebook))
    }

    fn within(host: &mut AnalysisHost, tree: &dyn Tree, root: &Path, path: &Path) -> Result<Read, String> {
        let text = tree.read_within(root, path).map_err(|error| format!("{}: {error}", path.display()))?;
        let notebook = notebook_of(path, &text)?;
        Ok(Read::new(host, root.to_owned(), path.to_owned(), notebook))
    }

    fn new(host: &mut AnalysisHost, root: PathBuf, path: PathBuf, notebook: Notebook) -> Read {
        let Notebook { document, lines } = notebook;
        let file = host.file_id(&path.to_string_lossy());
        let text = document.text();
        host.set_document_at_rest(file, document.clone());
        Read { root, path, text, document, lines, file }
    }

    fn source(self, host: &AnalysisHost) -> Source {
        let Read { text, document, lines, file, .. } = self;
        Source { text, document, lines, analysis: host.snapshot(), file }
    }

    fn find_dumps(&self, host: &mut AnalysisHost) {
        let mut dumps = Vec::new();
        for (path, text) in dumps::find(&self.path, &self.text, &self.root) {
            let dump = host.file_id(&path);
            host.set_text(dump, &text);
            dumps.push(dump);
        }
        host.set_dumps(self.file, &dumps);
    }
}

/// The text of a file under analysis; one of Python is a notebook without cells. The error is a sentence for the user.
fn notebook_of(path: &Path, text: &str) -> Result<Notebook, String> {
    match is_notebook(path) {
        true => notebook::read(text).map_err(|error| format!("{}: {error}", path.display())),
        false => Ok(Notebook { document: Document::new(text), lines: LinesOfCells::default() }),
    }
}

fn load_imports(imports: &mut Imports<'_>, host: &mut AnalysisHost, files: &[&Read]) {
    let with_roots: Vec<_> = files.iter().map(|read| (read.file, read.root.as_path())).collect();
    imports.load(host, &with_roots);
}

/// Answers what the plans of files leave open. A change waits for every snapshot, so none lives while answers are taken up.
fn search(host: &mut AnalysisHost, files: &[&Read]) {
    let snapshots: Vec<_> = files.iter().map(|read| (host.snapshot(), read.file)).collect();
    let mut open: Vec<OpenSearch> = Vec::new();
    workers::in_order(
        snapshots,
        |(analysis, file)| {
            // What fails here fails again where it is asked for, and is reported there.
            let diagnosis = catch_unwind(AssertUnwindSafe(|| analysis.diagnosis(file)));
            diagnosis.ok().and_then(Result::ok).map_or_else(Vec::new, |diagnosis| diagnosis.open)
        },
        |of_file| {
            of_file.into_iter().for_each(|search| {
                if !open.contains(&search) {
                    open.push(search)
                }
            })
        },
    );
    let mut found = Vec::new();
    workers::in_order(open, |search| search.run(Patience::CommandLine, &|| false), |searched| found.extend(searched));
    found.into_iter().for_each(|searched| host.set_searched(searched));
}

/// The current directory where the file lies below it, else the repository of the file, else the folder of the package that it is part of.
fn workspace_of(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(file);
    let current = env::current_dir().ok().filter(|current| file.starts_with(current));
    let is_package = |folder: &&Path| folder.join("__init__.py").is_file();
    let above_package = || folder.ancestors().find(|folder| !is_package(folder)).unwrap_or(folder).to_owned();
    current.or_else(|| repository_of(&OnDisk, folder)).unwrap_or_else(above_package)
}
