//! Words of a language that are no operations: a row each, read by completion, signature help, hover and the check whether a name exists.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordKind {
    Module,
    Type,
    Function,
    /// A class of constants.
    Enumeration,
    Member,
}

pub struct Word {
    /// Under the usual names of its modules: `pl.range`, `tlx.local_alloc`.
    pub path: &'static str,
    pub kind: WordKind,
    /// As in a signature: `stage`, `name_hint=''`, `*elems`, or a lone `*`. Only of functions.
    pub params: &'static [&'static str],
    pub about: &'static str,
}

impl Word {
    /// The names of the parameters, without presets.
    pub fn param_names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.params.iter().filter_map(|param| param.split('=').next());
        names.filter(|name| !name.starts_with('*'))
    }
}

pub const fn function(path: &'static str, params: &'static [&'static str], about: &'static str) -> Word {
    Word { path, kind: WordKind::Function, params, about }
}

pub const fn module(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Module, params: &[], about }
}

pub const fn ty(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Type, params: &[], about }
}

pub const fn enumeration(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Enumeration, params: &[], about }
}

pub const fn member(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Member, params: &[], about }
}
