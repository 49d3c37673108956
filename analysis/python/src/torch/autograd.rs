//! Functions with a gradient of their own.

use std::sync::{Arc, Mutex, PoisonError};

use tilefit_syntax::ast::BinaryOp;

use super::{ElementType, Tensor, unknown};
use crate::eval::{Behaviour, Constant, Object, Weighed};

/// What a function of autograd keeps for its gradient. All who have it have the same.
#[derive(Debug, Clone, Default)]
pub struct Context(Arc<Mutex<Vec<(String, Constant)>>>);

/// Of `ctx.save_for_backward(…)`.
const SAVED: &str = "saved_tensors";

impl Context {
    /// What is kept under two values may be either.
    fn keep(&self, name: &str, value: &Constant) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter_mut().find(|(other, _)| other == name) {
            Some((_, other)) if other != value => *other = unknown(format!("`{name}` is kept more than once")),
            Some(_) => {}
            None => kept.push((name.to_owned(), value.clone())),
        }
    }
}

impl Weighed for Context {
    fn weight(&self) -> usize {
        1
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Context {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        false
    }

    fn is_lasting(&self) -> bool {
        true
    }

    fn equals(&self, other: &Object) -> bool {
        other.get::<Context>().is_some_and(|other| Arc::ptr_eq(&self.0, &other.0))
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }

    fn with_member(&self, name: &str, value: &Constant) -> Option<Constant> {
        self.keep(name, value);
        Some(Constant::object(self.clone()))
    }

    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        (name == "save_for_backward").then(|| {
            self.keep(SAVED, &Constant::Tuple(args.to_vec().into()));
            Constant::None
        })
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

/// The gradients of what a function returns, each of which is a tensor like that.
pub fn gradients<D: ElementType>(returned: &Constant) -> Vec<Constant> {
    let one = |value: &Constant| match value.get::<Tensor<D>>() {
        Some(tensor) => Constant::object(Tensor { is_contiguous: None, ..tensor.clone() }),
        None => unknown("the gradient of an unknown value"),
    };
    match returned {
        Constant::Tuple(values) | Constant::List(values) => values.iter().map(one).collect(),
        value => vec![one(value)],
    }
}
