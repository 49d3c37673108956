//! What all languages of kernels need that are embedded in Python: values of host code without running it ([`eval`], [`torch`]), what is said of a
//! kernel ([`finding`], [`diagnostics`]), and what its analysis may cost ([`work`]).

pub mod diagnostics;
pub mod element;
pub mod eval;
pub mod finding;
pub mod spelling;
pub mod torch;
pub mod vocabulary;
pub mod work;
