//! What a kernel computes, told from the statements that its author wrote.
//!
//! A plain interpreter of the kernel IR as it is lowered, before any pass adds a tile: values are arrays in the element types of the
//! language, tensors are written in place, nothing has an address, a memory or a pipe. It shares no code with the
//! passes and with the code generator, so that a kernel that computes something else than it says is told from one that does not.
//!
//! One file for each family of operations; each says what an element of the result is. What nothing was written to is
//! [`UNDEFINED`](array::UNDEFINED), and so is what is made of it.

pub mod array;
mod elementwise;
mod indexed;
mod movement;
mod operation;
mod products;
mod reductions;
mod scalars;
mod statements;

use std::cell::RefCell;
use std::rc::Rc;

use array::Array;
pub use statements::{Outcome, run};

/// A value at run time.
#[derive(Debug, Clone)]
pub enum Value {
    Array(Shared),
    Number(Number),
    Tuple(Vec<Value>),
}

/// Names share an array where the language says that they are one: a tensor before and after it is written.
pub type Shared = Rc<RefCell<Array>>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    fn is_true(self) -> bool {
        self.as_f64() != 0.0
    }
}

/// What becomes of an element whose operands are defined and which is no number all the same, or none of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conditioning {
    /// The run ends: other inputs tell more.
    Strict,
    /// It is undefined.
    Lenient,
}

/// Why a kernel has no meaning here, or none that is worth a comparison.
pub type Result<T> = std::result::Result<T, String>;
