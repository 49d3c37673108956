//! The languages of kernels for GPUs.

use tilefit_gpu::trace;

/// In which of the languages of GPUs a kernel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    Triton,
    Gluon,
    Tlx,
    TileLang,
}

impl Dialect {
    /// How Triton's compiler follows it; `None`: another one does.
    pub(super) fn traced_as(self) -> Option<trace::Dialect> {
        match self {
            Dialect::Triton => Some(trace::Dialect::Triton),
            Dialect::Gluon => Some(trace::Dialect::Gluon),
            Dialect::Tlx => Some(trace::Dialect::Tlx),
            Dialect::TileLang => None,
        }
    }

    /// Whether the compiler chooses the layouts of registers.
    pub(super) fn leaves_layouts(self) -> bool {
        self.traced_as().is_some_and(trace::Dialect::leaves_layouts)
    }
}
