//! Notebooks: to a client every cell is a document, to the analysis the cells are the parts of one.

use std::collections::HashMap;
use std::sync::Arc;

use ls_types::Uri;

/// The document of a cell, at a version of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub uri: Uri,
    pub version: i32,
}

/// Those of one notebook, in the order of the parts.
pub type Cells = Arc<[Cell]>;

/// The notebooks that are open, by the paths that the analysis knows them by.
pub type Notebooks = Arc<HashMap<String, Cells>>;
