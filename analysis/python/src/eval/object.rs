//! Values that only a language or a library knows: what Python does with them is theirs to say.

use std::any::Any;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use tilefit_syntax::ast::BinaryOp;

use super::{Constant, Weighed};

/// What Python does with a value of a language or a library.
///
/// Nothing here has a default: whoever makes such values says what becomes of each, also where that is nothing.
pub trait Behaviour: Any + Weighed + fmt::Debug + Send + Sync + RefUnwindSafe + UnwindSafe {
    /// Python's truth value, where it is known.
    fn truth(&self) -> Option<bool>;

    /// Whether it compares as Python's value does.
    fn is_known(&self) -> bool;

    /// Whether no method changes what is known of it.
    fn is_lasting(&self) -> bool;

    fn equals(&self, other: &Object) -> bool;

    /// The value under the name that an assignment binds it to, where it takes that name for its own.
    fn named(&self, name: &str) -> Option<Constant>;

    /// `object.name`; `None` where that is not modelled.
    fn member(&self, name: &str) -> Option<Constant>;

    /// The value after `object.name = value`; `None` where that is not modelled, or changes what others hold.
    fn with_member(&self, name: &str, value: &Constant) -> Option<Constant>;

    /// `object.name(args)`, without keywords; `None` where that is not modelled.
    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant>;

    /// What is known of a value that is this or the other; `None` where that is nothing.
    fn either(&self, other: &Object) -> Option<Constant>;

    /// An operator of which it is one side or both; `None` where it has nothing to say to it.
    fn binary(&self, op: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant>;
}

/// A value with its behaviour.
#[derive(Clone)]
pub struct Object(Arc<dyn Behaviour>);

impl Object {
    /// The value, where it is of that type.
    pub fn get<T: Behaviour>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }
}

impl std::ops::Deref for Object {
    type Target = dyn Behaviour;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        self.0.equals(other)
    }
}

impl Eq for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Constant {
    pub fn object(value: impl Behaviour) -> Constant {
        Constant::Object(Object(Arc::new(value)))
    }

    /// What a language or a library made, where it is of that type.
    pub fn get<T: Behaviour>(&self) -> Option<&T> {
        match self {
            Constant::Object(object) => object.get(),
            _ => None,
        }
    }
}
