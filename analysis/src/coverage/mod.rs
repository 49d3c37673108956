//! What of the model was compared with the compiler.
//!
//! That nothing in a kernel is known to be wrong does not make its plan the compiler's. So every kernel carries [`Mark`]s: the operations,
//! forms and scopes that it is written with, and each pair of passes that changed it. `compared.csv` says for each mark by what it was
//! compared, and where the answers were equal. A kernel with a mark that is not in there is [`predicted`](tilefit_python::finding::Status::Predicted).

mod marks;
mod table;

pub use marks::{Form, Level, Mark, Pass};
pub(crate) use marks::{Watch, of};
pub use table::{By, COMPARED, Setting, Table, add, compared, read, write};

/// The marks of a kernel that were never compared with the compiler under a setting, in order.
pub(crate) fn missing(marks: &[Mark], setting: Setting) -> Vec<Mark> {
    marks.iter().copied().filter(|mark| compared(*mark, setting).is_empty()).collect()
}
