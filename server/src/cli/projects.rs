//! The settings of the files that a command looks at: each file has those that lie nearest above it, wherever the command is started.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tilefit_analysis::project::Config;

use crate::selection::{Selection, Selects};
use crate::settings;
use crate::tree::{Tree, absolute, repository_of};

/// The settings of one file.
#[derive(Default)]
pub(super) struct Project {
    pub(super) config: Config,
    selection: Selection,
    /// What was not understood, in sentences for the user.
    problems: Vec<String>,
}

/// Projects by folder, as far as anybody asked.
pub(super) struct Projects<'t> {
    tree: &'t dyn Tree,
    /// What the command line puts over the settings.
    over: Box<dyn Fn(&mut Config) + Send + Sync>,
    of_folders: Mutex<HashMap<PathBuf, Arc<Project>>>,
    /// Of all folders without settings.
    without: Arc<Project>,
}

impl<'t> Projects<'t> {
    pub(super) fn new(tree: &'t dyn Tree, over: impl Fn(&mut Config) + Send + Sync + 'static) -> Projects<'t> {
        let mut without = Project::default();
        over(&mut without.config);
        Projects { tree, over: Box::new(over), of_folders: Mutex::default(), without: Arc::new(without) }
    }

    /// Of the folder that the file is in.
    pub(super) fn of_file(&self, file: &Path) -> Arc<Project> {
        self.of_folder(absolute(file).parent().unwrap_or(Path::new("/")))
    }

    /// Files one after another that have the same settings.
    pub(super) fn each<'f>(&self, files: &'f [PathBuf]) -> Vec<(Arc<Project>, &'f [PathBuf])> {
        let chunks = files.chunk_by(|a, b| Arc::ptr_eq(&self.of_file(a), &self.of_file(b)));
        chunks.map(|chunk| (self.of_file(&chunk[0]), chunk)).collect()
    }

    /// What is wrong with the settings that were read so far.
    pub(super) fn problems(&self) -> Vec<String> {
        let projects = self.of_folders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problems: Vec<String> = projects.values().flat_map(|project| project.problems.clone()).collect();
        problems.sort();
        problems.dedup();
        problems
    }

    fn of_folder(&self, folder: &Path) -> Arc<Project> {
        let known = || self.of_folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(project) = known().get(folder) {
            return Arc::clone(project);
        }
        let repository = repository_of(self.tree, folder);
        let here = settings::at(self.tree, folder, repository.as_deref());
        let above = || match folder.parent() {
            Some(above) if repository.as_deref() != Some(folder) => self.of_folder(above),
            _ => Arc::clone(&self.without),
        };
        let project = match here.folder {
            Some(_) => self.project(here),
            None if here.problems.is_empty() => above(),
            // A file that cannot be read does not count; that it cannot be read does.
            None => {
                let above = above();
                let (config, selection) = (above.config.clone(), above.selection.clone());
                Arc::new(Project { config, selection, problems: [above.problems.clone(), here.problems].concat() })
            }
        };
        known().insert(folder.to_owned(), Arc::clone(&project));
        project
    }

    fn project(&self, here: settings::Resolved) -> Arc<Project> {
        let settings::Resolved { mut config, mut problems, folder } = here;
        let (selection, unreadable) = Selection::new(folder.as_deref(), &config);
        problems.extend(unreadable);
        (self.over)(&mut config);
        Arc::new(Project { config, selection, problems })
    }
}

impl Projects<'_> {
    pub(super) fn selects(&self, file: &Path) -> bool {
        self.of_file(file).selection.selects(file)
    }
}

impl Selects for Projects<'static> {
    fn selects(&self, file: &Path) -> bool {
        self.selects(file)
    }

    /// What lies in a directory has no say in whether it is entered.
    fn enters(&self, directory: &Path) -> bool {
        self.of_file(directory).selection.enters(directory)
    }
}
