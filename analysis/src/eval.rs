//! Values that Python code outside of kernels gives to names: module constants, locals of factories, imports.

use tilelens_syntax::ast::FloatBits;

use crate::ir::{Dtype, Reason};

/// The value of a Python expression, as far as it can be known without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    Int(i64),
    Float(FloatBits),
    Bool(bool),
    Str(String),
    None,
    Dtype(Dtype),
    Space(crate::target::Space),
    List(Vec<Constant>),
    Tuple(Vec<Constant>),
    /// `pl.dynamic("N")`
    Dynamic(String),
    /// `pl.MemRef()` bound to a name, or `pl.MemRef("name")`.
    Allocation {
        name: Option<String>,
        slots: u32,
    },
    Unknown(Reason),
}

/// What a kernel sees of the code around it.
pub trait Scope {
    /// The value of a name of the enclosing functions or the module; `None` where no such name is bound.
    fn constant(&self, name: &str) -> Option<Constant>;

    /// The function of that name in the enclosing program (`self.name`) or module, for inlining and signatures.
    fn function(&self, name: &str) -> Option<FunctionSource>;
}

/// The syntax of another function of the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSource {
    pub ast: std::sync::Arc<tilelens_syntax::ast::Ast>,
}
