//! The texts that a soak begins with.

use std::fs;
use std::path::Path;

use super::Options;
use crate::differential::generator;
use crate::kernels::{self, Layout};
use crate::{corpus, tensor_kernels, tlx_kernels};

pub(super) struct Source {
    /// For the report.
    pub(super) name: String,
    pub(super) uri: String,
    pub(super) text: String,
}

impl Source {
    /// A thousand lines or so.
    pub(super) fn is_large(&self) -> bool {
        self.text.len() > 40_000
    }
}

/// Kernels that are made at random.
const RANDOM: u64 = 40;

/// Generated files, of up to 10,000 lines, and those that are given, or the kernels of this repository.
pub(super) fn all(options: &Options) -> Vec<Source> {
    let Options { files, seed, largest, .. } = options;
    let mut sources = Vec::new();
    let mut add = |name: String, text: String| {
        sources.push(Source { uri: format!("file:///work/soak/{name}.py"), name, text });
    };
    for count in [3, 30, 300] {
        add(format!("classes{count}"), kernels::source(count, Layout::ClassPerKernel));
        add(format!("one_class{count}"), kernels::source(count, Layout::OneClass));
    }
    add("scopes6".to_owned(), tensor_kernels::source(6));
    add("scopes75".to_owned(), tensor_kernels::source(75));
    add("tlx6".to_owned(), tlx_kernels::source(6));
    (0..RANDOM).for_each(|index| add(format!("random{index}"), generator::kernel(*seed, index)));
    let mut paths = Vec::new();
    match files.as_slice() {
        [] => paths = corpus::files(),
        files => files.iter().for_each(|path| corpus::collect(path, &mut paths)),
    }
    paths.sort();
    sources.extend(paths.iter().filter_map(|path| given(path)));
    sources.retain(|source| source.text.len() <= *largest);
    sources
}

fn given(path: &Path) -> Option<Source> {
    let path = path.canonicalize().ok()?;
    let text = fs::read_to_string(&path).ok()?;
    Some(Source { uri: uri(&path), name: path.display().to_string(), text })
}

/// Of a path without characters that a URI escapes.
pub(super) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
