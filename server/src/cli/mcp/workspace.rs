//! What agents may ask about: the files below the directories that the command line names, and nothing else.

use std::env;
use std::path::{Path, PathBuf};

use tilefit_analysis::project::{Config, Shape};
use tilefit_python::spelling::did_you_mean;

use crate::cli::projects::Projects;
use crate::cli::source::Source;
use crate::cli::which::Kernels;
use crate::cli::{Planning, setting};
use crate::disk;
use crate::imports::Imports;
use crate::tree::{OnDisk, Tree, absolute};

pub(super) struct Workspace {
    /// Never empty; absolute.
    roots: Vec<PathBuf>,
}

/// A file or directory of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) root: PathBuf,
    /// Absolute.
    pub(super) path: PathBuf,
}

impl Place {
    /// As agents know it.
    pub(super) fn name(&self) -> String {
        name(&self.root, &self.path)
    }
}

/// The path of a file below a root.
pub(super) fn name(root: &Path, path: &Path) -> String {
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    name.replace(std::path::MAIN_SEPARATOR, "/")
}

/// Files that are compared with an unknown name.
const MOST_COMPARED: usize = 5000;

impl Workspace {
    /// The current directory without any. The error is a sentence for the user.
    pub(super) fn of(roots: &[PathBuf]) -> Result<Workspace, String> {
        let current = || env::current_dir().map_err(|error| format!("no current directory: {}", disk::why(&error)));
        let roots = if roots.is_empty() { vec![current()?] } else { roots.iter().map(|root| absolute(root)).collect() };
        match roots.iter().find(|root| !root.is_dir()) {
            Some(missing) => Err(format!("{} is not a directory", missing.display())),
            None => Ok(Workspace { roots }),
        }
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = Place> {
        self.roots.iter().map(|root| Place { root: root.clone(), path: root.clone() })
    }

    /// Something that there is. The error is a sentence for the agent.
    pub(super) fn existing(&self, named: &str) -> Result<Place, String> {
        let place = self.place(named)?;
        match disk::stay_within(&place.root, &place.path) {
            Ok(()) => Ok(place),
            Err(error) if error.is_missing() => {
                Err(format!("there is no `{named}` in the workspace{}", self.meant(named)))
            }
            Err(error) => Err(format!("{named}: {error}")),
        }
    }

    /// What may be there or not.
    pub(super) fn place(&self, named: &str) -> Result<Place, String> {
        let within = |root: &PathBuf| {
            let path = absolute(&root.join(named));
            path.starts_with(root).then(|| Place { root: root.clone(), path })
        };
        let places: Vec<Place> = self.roots.iter().filter_map(within).collect();
        let there = places.iter().find(|place| place.path.exists()).or(places.first());
        there.cloned().ok_or_else(|| {
            let roots: Vec<_> = self.roots.iter().map(|root| format!("`{}`", root.display())).collect();
            format!("`{named}` is outside the workspace, which is {}", roots.join(" and "))
        })
    }

    fn meant(&self, named: &str) -> String {
        let files = self.roots.iter().flat_map(|root| OnDisk.source_files(root).map(|path| name(root, &path)));
        let files: Vec<String> = files.take(MOST_COMPARED).collect();
        let meant = did_you_mean(named, files.iter().map(String::as_str));
        if !meant.is_empty() {
            return meant;
        }
        // The right file in the wrong folder, or without its extension.
        let stem = |path: &str| Path::new(path).file_stem().unwrap_or_default().to_owned();
        files.iter().find(|file| stem(file) == stem(named)).map_or(meant, |file| format!("; did you mean `{file}`?"))
    }
}

/// What replaces the settings of the files.
#[derive(Default)]
pub(super) struct Over {
    pub(super) target: Option<String>,
    pub(super) planner: Option<String>,
}

pub(super) fn targets() -> Vec<&'static str> {
    names("target")
}

pub(super) fn planners() -> Vec<&'static str> {
    names("planner")
}

fn names(key: &str) -> Vec<&'static str> {
    match setting(key).shape {
        Shape::OneOf(choices) => choices.iter().map(|(name, _)| *name).collect(),
        _ => Vec::new(),
    }
}

impl Over {
    /// The error is a sentence for the agent.
    fn planning(&self) -> Result<Planning, String> {
        for (key, value) in [("target", &self.target), ("planner", &self.planner)] {
            if let Some(value) = value.as_deref().filter(|value| !names(key).contains(value)) {
                let meant = did_you_mean(value, names(key));
                let listed = if meant.is_empty() { format!("; there are {}", names(key).join(", ")) } else { meant };
                return Err(format!("there is no {key} `{value}`{listed}"));
            }
        }
        Ok(Planning { target: self.target.clone(), planner: self.planner.clone() })
    }

    /// The settings of the files of a tree, with these over them.
    pub(super) fn projects<'t>(&self, tree: &'t dyn Tree) -> Result<Projects<'t>, String> {
        let planning = self.planning()?;
        Ok(Projects::new(tree, move |config: &mut Config| planning.put_over(config)))
    }
}

/// A file as a tree has it, under its settings. The error is a sentence for the agent.
pub(super) fn read(tree: &dyn Tree, place: &Place, projects: &Projects<'_>) -> Result<Source, String> {
    let config = &projects.of_file(&place.path).config;
    let read =
        Source::read_all_of(&mut Imports::new(tree), &place.root, std::slice::from_ref(&place.path), config).pop();
    let source = read.unwrap_or_else(|| Err(format!("{} is not read", place.name())));
    source.map_err(|error| error.replace(&place.path.display().to_string(), &place.name()))
}

/// Those of a name or pattern, or all without one.
pub(super) fn kernels(pattern: Option<&String>) -> Kernels {
    pattern.map_or_else(Kernels::default, |pattern| Kernels::named(pattern))
}
