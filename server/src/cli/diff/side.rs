//! The kernels of one side, before or now, in the form of `tilefit plan --format json`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tilefit_analysis::ide::KernelPlan;
use tilefit_analysis::ide::plan_view::{Bounds, SpacePlan};
use tilefit_analysis::project::Config;

use super::{LEAST, shown};
use crate::cli::projects::Projects;
use crate::cli::source::Source;
use crate::cli::workers;
use crate::git::Commit;
use crate::imports::Imports;
use crate::tree::{OnDisk, Tree, absolute, is_source, repository_of};
use crate::{disk, files};

/// Files that are analysed together.
const FILES_TOGETHER: usize = 64;

#[derive(Default)]
pub(super) struct Side {
    pub(super) kernels: Vec<Kernel>,
    /// What cannot be read, in sentences for the user.
    pub(super) failures: Vec<String>,
}

/// What of a kernel is compared.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::cli) struct Kernel {
    #[serde(default)]
    pub(in crate::cli) file: String,
    pub(in crate::cli) name: String,
    /// Of a notebook, from 1.
    #[serde(default)]
    pub(in crate::cli) cell: Option<usize>,
    pub(in crate::cli) line: usize,
    pub(in crate::cli) status: String,
    pub(in crate::cli) target: String,
    pub(in crate::cli) planner: String,
    pub(in crate::cli) spaces: BTreeMap<String, Space>,
    #[serde(default)]
    pub(in crate::cli) diagnostics: Vec<Finding>,
}

/// How full a memory is: exactly, or within bounds, of which the upper one may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Space {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) used: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) low: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) high: Option<u64>,
    pub(in crate::cli) capacity: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Finding {
    pub(in crate::cli) code: String,
    pub(in crate::cli) severity: String,
    pub(in crate::cli) line: usize,
    pub(in crate::cli) message: String,
}

impl Space {
    pub(in crate::cli) fn bounds(&self) -> Option<Bounds> {
        self.low.map(|low| Bounds { low, high: self.high })
    }

    /// What is used at most, where anything bounds it.
    pub(in crate::cli) fn most(&self) -> Option<u64> {
        self.used.or(self.high)
    }

    /// Surely more than there is. A capacity of 0 is no limit.
    pub(in crate::cli) fn is_over(&self) -> bool {
        let limit = self.capacity.filter(|&capacity| capacity > 0);
        limit.is_some_and(|capacity| self.used.or(self.low).is_some_and(|least| least > capacity))
    }
}

impl From<&SpacePlan> for Space {
    fn from(space: &SpacePlan) -> Space {
        let (low, high) = (space.bounds.map(|bounds| bounds.low), space.bounds.and_then(|bounds| bounds.high));
        Space { used: space.used, low, high, capacity: space.capacity }
    }
}

impl Kernel {
    pub(in crate::cli) fn of(file: &str, plan: &KernelPlan) -> Kernel {
        let finding = |it: &tilefit_analysis::ide::plan_view::PlanDiagnostic| Finding {
            code: it.code.to_owned(),
            severity: it.severity.to_owned(),
            line: it.line,
            message: it.message.clone(),
        };
        Kernel {
            file: file.to_owned(),
            name: plan.name.clone(),
            cell: plan.cell,
            line: plan.line,
            status: plan.status.to_owned(),
            target: plan.target.to_owned(),
            planner: plan.planner.to_owned(),
            spaces: plan.spaces.iter().map(|(name, space)| ((*name).to_owned(), space.into())).collect(),
            diagnostics: plan.diagnostics.iter().map(finding).collect(),
        }
        .of_weight()
    }

    /// Without findings that are no news to a reviewer.
    fn of_weight(mut self) -> Kernel {
        let names = [LEAST, tilefit_python::diagnostics::Severity::Error].map(|severity| severity.name());
        self.diagnostics.retain(|finding| names.contains(&finding.severity.as_str()));
        self
    }
}

/// A plan in a file.
#[derive(Deserialize)]
pub(super) struct Before {
    schema: u32,
    pub(in crate::cli) file: PathBuf,
    kernels: Vec<Kernel>,
}

impl Before {
    /// The error is a sentence for the user.
    pub(super) fn read(path: &Path) -> Result<Before, String> {
        let wrong = |why: String| format!("{}: not what `tilefit plan --format json` writes: {why}", path.display());
        let text = disk::read_named(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let before: Before = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if before.schema != 1 {
            return Err(wrong(format!("its schema is {}, and this version reads 1", before.schema)));
        }
        Ok(before)
    }

    /// Its kernels as those of a file, which may have another name now.
    pub(super) fn side(self, file: Option<String>) -> Side {
        let file = file.unwrap_or_else(|| shown(&absolute(&self.file)));
        let kernels = self.kernels.into_iter().map(|kernel| Kernel { file: file.clone(), ..kernel }.of_weight());
        Side { kernels: kernels.collect(), failures: Vec::new() }
    }
}

impl Side {
    /// The kernels of files, which are of a repository or of a folder.
    pub(super) fn of_files(
        tree: &dyn Tree,
        root: &Path,
        paths: &[PathBuf],
        over: impl Fn(&mut Config) + Send + Sync + 'static,
    ) -> Side {
        let projects = Projects::new(tree, over);
        let mut side = Side::default();
        side.add(tree, root, paths, &projects);
        side.failures.extend(projects.problems());
        side
    }

    fn add(&mut self, tree: &dyn Tree, root: &Path, paths: &[PathBuf], projects: &Projects<'_>) {
        let mut imports = Imports::new(tree);
        for (project, together) in projects.each(paths) {
            for together in together.chunks(FILES_TOGETHER) {
                let sources = Source::read_all_of(&mut imports, root, together, &project.config);
                let work = |(path, source): (&PathBuf, Result<Source, String>)| Ok(of_file(&shown(path), &source?));
                workers::in_order(together.iter().zip(sources), work, |read: Result<_, String>| match read {
                    Err(message) => self.failures.push(message),
                    Ok((kernels, unread)) => {
                        self.kernels.extend(kernels);
                        self.failures.extend(unread);
                    }
                });
            }
        }
    }
}

/// The kernels of a file, and those that do not parse, in sentences for the user.
fn of_file(file: &str, source: &Source) -> (Vec<Kernel>, Vec<String>) {
    let plans = source.ask(|analysis, file| analysis.plans(file));
    let kernels = plans.iter().map(|plan| Kernel::of(file, plan)).collect();
    (kernels, source.syntax_errors(file))
}

/// The kernels below paths in a commit and on disk.
pub(super) fn of_commit_and_disk<F: Fn(&mut Config) + Clone + Send + Sync + 'static>(
    commit: &Commit,
    root: &Path,
    paths: &[PathBuf],
    over: &F,
) -> (Side, Side) {
    let now = Arc::new(Projects::new(&OnDisk, over.clone()));
    let then = Projects::new(commit, over.clone());
    let mut failures = Vec::new();
    let mut files = BTreeSet::new();
    for path in paths {
        let was_there = commit.has(&absolute(path)) || commit.has_folder(&absolute(path));
        let (found, failed) = files::find(slice::from_ref(path), &now);
        // That a path, or its last file, went away is the change.
        if !(found.is_empty() && was_there) {
            failures.extend(failed);
        }
        files.extend(found.iter().map(|file| absolute(file)));
    }
    // A submodule, or any repository inside of this one, is not of its commits.
    files.retain(|file| repository_of(&OnDisk, file).as_deref() == Some(root));
    let of_commit = paths.iter().flat_map(|path| {
        let path = absolute(path);
        if commit.has(&path) { vec![path] } else { commit.source_files(&path).collect() }
    });
    // What is on disk and not looked at there is not looked at here either: git may ignore it, or the settings.
    let is_looked_at = |file: &PathBuf| files.contains(file) || !file.exists() && then.selects(file);
    let of_commit: BTreeSet<PathBuf> = of_commit.filter(|file| is_source(file) && is_looked_at(file)).collect();

    let mut after = Side { failures, ..Side::default() };
    after.add(&OnDisk, root, &Vec::from_iter(files), &now);
    after.failures.extend(now.problems());
    let mut before = Side::default();
    before.add(commit, root, &Vec::from_iter(of_commit), &then);
    // What is wrong with the base is no fault of the change, and is not there any more or reported of now.
    before.failures.clear();
    (before, after)
}
